/** What a session that runs is doing now, in words. */
import { isOver } from '@/api/status';
import type { SessionDetail } from '@/api/types';
import { waitsForApproval } from '@/live/approval';
import type { EventView, SessionView, StageView } from '@/live/view';
import { counted } from '@/text/format';
import type { Progress } from '@/ui/progress';
import { previewOf, toolCallFacts } from './timeline/preview';

interface Present {
  /** The sentence; empty while agents run, who have a line each. */
  words: string;
  agents: PresentAgent[];
}

export interface PresentAgent {
  executionId: string;
  name: string;
  status: string;
  /** Its newest event, which says what it does; undefined before the first. */
  eventId: string | undefined;
}

/** Undefined when nothing goes on any more. The stage is not named: the header says which one it is. */
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
    // Also those that are done: a line that goes away would move the page under its reader.
    agents: stage.executions.map(({ execution, events }) => ({
      executionId: execution.id,
      name: execution.agent_name,
      status: execution.status,
      eventId: events.at(-1),
    })),
  };
}

/** What an agent does, told by its newest event. */
export function doingOf(event: EventView | undefined): { words: string; detail: string } {
  if (!event) return { words: 'Starting', detail: '' };
  const streaming = event.status === 'streaming';
  switch (event.event_type) {
    case 'llm_tool_call': {
      const { server, tool } = toolCallFacts(event);
      const name = server ? `${server}.${tool}` : tool;
      if (waitsForApproval(event)) return { words: `Waiting for approval of ${name}`, detail: '' };
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

/** How far a session has come through its chain. Questions do not count. */
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

/** Whether a session does nothing but wait for approvals: each of its agents that runs waits for one. */
export function isWaiting({ session, stages, waiting }: SessionView): boolean {
  if (session.status !== 'in_progress' || waiting.length === 0) return false;
  return stages
    .flatMap((stage) => stage.executions)
    .filter(({ execution }) => execution.status === 'active')
    .every(({ events }) => events.some((id) => waiting.includes(id)));
}

/** The call that waits next, after the one that the reader is at; the first comes after the last. */
export function nextWaiting(waiting: readonly string[], at: string | undefined): string | undefined {
  return waiting[waiting.indexOf(at ?? '') + 1] ?? waiting[0];
}

/** How a session stands, in one sign for the tab of the browser. */
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
