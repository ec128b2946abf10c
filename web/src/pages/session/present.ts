/** What a running session is doing, in words. */
import { isOver } from '@/api/status';
import type { SessionDetail } from '@/api/types';
import { approvalWord } from '@/approval/words';
import { waitsForApproval } from '@/live/approval';
import type { EventView, SessionView, StageView } from '@/live/view';
import { counted } from '@/text/format';
import type { Progress } from '@/ui/progress';
import { previewOf, toolCallFacts } from './timeline/preview';

interface Present {
  /** A sentence; empty while agents run, which have a line each. */
  words: string;
  agents: PresentAgent[];
}

export interface PresentAgent {
  executionId: string;
  name: string;
  status: string;
  /** Its latest event, which shows what it is doing; undefined before the first. */
  eventId: string | undefined;
}

/** Returns undefined when nothing is going on anymore. The stage is not named, because the header shows it. */
export function presentOf(view: SessionView): Present | undefined {
  const { session } = view;
  if (isOver(session.status)) return undefined;
  if (session.status === 'pending') return { words: 'Queued.', agents: [] };
  if (session.status === 'cancelling') return { words: 'Cancelling: stopping the agents.', agents: [] };
  const stages = view.stages.filter((stage) => stage.stage.stage_type !== 'chat');
  const stage = stages.findLast((candidate) => candidate.stage.status === 'active');
  if (!stage) return { words: between(session, stages), agents: [] };
  if (stage.executions.length === 0) return { words: 'Starting the agents.', agents: [] };
  return {
    words: '',
    // Includes finished agents: a line that disappears would move the page under the reader.
    agents: stage.executions.map(({ execution, events }) => ({
      executionId: execution.id,
      name: execution.agent_name,
      status: execution.status,
      eventId: events.at(-1),
    })),
  };
}

/** Describes what an agent is doing from its latest event. */
export function doingOf(event: EventView | undefined): { words: string; detail: string } {
  if (!event) return { words: 'Starting', detail: '' };
  const streaming = event.status === 'streaming';
  switch (event.event_type) {
    case 'llm_tool_call': {
      const { server, tool } = toolCallFacts(event);
      const name = server ? `${server}.${tool}` : tool;
      if (waitsForApproval(event)) return { words: `${approvalWord('waiting')} of ${name}`, detail: '' };
      return streaming
        ? { words: `Calling ${name}`, detail: previewOf(event) }
        : { words: `Reading the result of ${name}`, detail: '' };
    }
    case 'mcp_tool_summary':
      return streaming
        ? { words: 'Summarizing a long result', detail: '' }
        : { words: 'Waiting for the model', detail: '' };
    case 'llm_thinking':
      return { words: 'Thinking', detail: streaming ? previewOf(event) : '' };
    case 'llm_response':
    case 'final_analysis':
      return { words: 'Writing', detail: previewOf(event) };
    default:
      return { words: 'Waiting for the model', detail: '' };
  }
}

function between(session: SessionDetail, stages: readonly StageView[]): string {
  if (stages.length === 0) return 'Starting.';
  return stages.length >= session.stage_count ? 'Writing the summary.' : 'Preparing the next stage.';
}

/** Returns how far a session is through its chain. Questions do not count. */
export function progressOf(view: SessionView): Progress {
  const { session } = view;
  const stages = view.stages.filter(({ stage }) => stage.stage_type !== 'chat').map(({ stage }) => stage);
  const done = stages.filter((stage) => stage.status === 'completed').length;
  const total = Math.max(session.stage_count, stages.length, 1);
  const current = stages.findLast((stage) => stage.status === 'active') ?? stages.at(-1);
  const tones: Record<SessionDetail['status'], Progress['tone']> = {
    pending: 'idle',
    in_progress: 'running',
    cancelling: 'running',
    completed: 'good',
    failed: 'bad',
    cancelled: 'idle',
    timed_out: 'warn',
  };
  const label =
    session.status === 'completed' || !current
      ? `${done} of ${counted(total, 'stage')} done`
      : `stage ${current.stage_index} of ${total}: ${current.stage_name}`;
  return { total, done, tone: tones[session.status], label };
}

/** Reports whether a session only waits for approvals: every running agent has a waiting call. */
export function isWaiting({ session, stages, waiting }: SessionView): boolean {
  if (session.status !== 'in_progress' || waiting.length === 0) return false;
  return stages
    .flatMap((stage) => stage.executions)
    .filter(({ execution }) => execution.status === 'active')
    .every(({ events }) => events.some((id) => waiting.includes(id)));
}

/** Returns the next waiting call after `at`, wrapping around. */
export function nextWaiting(waiting: readonly string[], at: string | undefined): string | undefined {
  return waiting[waiting.indexOf(at ?? '') + 1] ?? waiting[0];
}

/** Returns the status of a session as one character for the title of the tab. */
export function statusMark(status: SessionDetail['status'] | 'waiting'): string {
  return {
    waiting: '?',
    pending: '○',
    in_progress: '●',
    cancelling: '●',
    completed: '✓',
    failed: '✗',
    cancelled: '–',
    timed_out: '!',
  }[status];
}
