/** What a session that runs is doing now, in words. */
import { isOver } from '@/api/status';
import type { SessionDetail } from '@/api/types';
import type { EventView, Lookup, SessionView, StageView } from '@/live/view';
import { counted } from '@/text/format';
import type { Progress } from '@/ui/progress';

interface Present {
  /** The sentence. */
  words: string;
  /** The agents that run. */
  agents: string[];
  /** The last tool call of the stage that runs: its event. */
  toolEvent?: string;
}

/** Undefined when nothing goes on any more. */
export function presentOf(view: SessionView, lookup: Lookup): Present | undefined {
  const { session } = view;
  if (isOver(session.status)) return undefined;
  if (session.status === 'pending') return { words: 'Queued.', agents: [] };
  if (session.status === 'cancelling') return { words: 'Cancelling: stopping the agents.', agents: [] };
  const stages = view.stages.filter((stage) => stage.stage.stage_type !== 'chat');
  const stage = stages.findLast((candidate) => candidate.stage.status === 'active');
  if (!stage) return { words: between(session, stages), agents: [] };
  const running = stage.executions.filter((execution) => execution.execution.status === 'active');
  return {
    words: `${stageWords(stage, session)}.`,
    agents: running.map((execution) => execution.execution.agent_name),
    toolEvent: lastToolCall(stage, lookup),
  };
}

function between(session: SessionDetail, stages: readonly StageView[]): string {
  if (stages.length === 0) return 'Starting.';
  return stages.length >= session.stage_count ? 'Writing the summary.' : 'Preparing the next stage.';
}

function stageWords({ stage }: StageView, session: SessionDetail): string {
  return `${placeOf(stage.stage_index, session.stage_count)}: ${stage.stage_name}`;
}

function placeOf(index: number, count: number): string {
  return count > 0 ? `Stage ${index} of ${Math.max(count, index)}` : `Stage ${index}`;
}

/** The newest tool call of a stage. Only the ends of its executions are looked at. */
function lastToolCall(stage: StageView, lookup: Lookup): string | undefined {
  let newest: EventView | undefined;
  for (const execution of stage.executions) {
    const id = execution.events.findLast((event) => lookup(event)?.event_type === 'llm_tool_call');
    const event = id === undefined ? undefined : lookup(id);
    if (event && event.sequence_number > (newest?.sequence_number ?? 0)) newest = event;
  }
  return newest?.id;
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

/** How a session stands, in one sign for the tab of the browser. */
export function statusMark(status: SessionDetail['status']): string {
  return {
    pending: '○',
    in_progress: '●',
    cancelling: '●',
    completed: '✓',
    failed: '✗',
    cancelled: '–',
    timed_out: '!',
  }[status];
}
