/** Sessions made up for the tests of this folder. */
import type { ExecutionDetail, SessionDetail, StageDetail, Usage } from '@/api/types';
import type { EventView, ExecutionView, SessionView, StageView } from '@/live/view';

const usage: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  thinking_tokens: 0,
  cached_tokens: 0,
  total_tokens: 0,
  cost_usd: 0,
  unpriced_tokens: 0,
};

const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();

/** Events by their id, numbered in the order in which they are added. */
export class Events {
  readonly #events = new Map<string, EventView>();

  add(id: string, eventType: string, parts: Partial<EventView> = {}): string {
    const number = this.#events.size + 1;
    this.#events.set(id, event(id, eventType, { sequence_number: number, created_at: at(number), ...parts }));
    return id;
  }

  readonly lookup = (id: string): EventView | undefined => this.#events.get(id);
}

export function event(id: string, eventType: string, parts: Partial<EventView> = {}): EventView {
  const content = parts.content ?? '';
  return {
    id,
    session_id: 'session',
    stage_id: null,
    execution_id: null,
    sequence_number: 1,
    event_type: eventType,
    status: 'completed',
    metadata: null,
    created_at: at(0),
    updated_at: at(0),
    completed_at: at(1),
    content_length: content.length,
    truncated: false,
    ...parts,
    content,
  };
}

export function execution(id: string, events: readonly string[]): ExecutionView {
  const detail: ExecutionDetail = {
    id,
    session_id: 'session',
    stage_id: 'stage',
    agent_name: id,
    agent_index: 1,
    iteration_strategy: 'native-thinking',
    llm_provider: 'provider',
    forced_conclusion: '',
    shortened_through: 0,
    status: 'completed',
    error_code: '',
    error_message: '',
    created_at: at(0),
    started_at: at(0),
    completed_at: at(1),
    usage,
    tool_calls: 0,
  };
  return { execution: detail, events };
}

export function stage(
  id: string,
  executions: readonly ExecutionView[],
  parts: Partial<StageDetail> = {},
  events: readonly string[] = [],
): StageView {
  const detail: StageDetail = {
    id,
    session_id: 'session',
    stage_name: id,
    stage_type: 'investigation',
    stage_index: 1,
    expected_agent_count: 1,
    parallel_type: null,
    success_policy: null,
    chat_id: null,
    chat_user_message_id: null,
    status: 'completed',
    error_message: '',
    created_at: at(0),
    started_at: at(0),
    completed_at: at(1),
    usage,
    tool_calls: 0,
    executions: [],
    ...parts,
  };
  return { stage: detail, executions, events };
}

export function session(
  stages: readonly StageView[],
  events: readonly string[] = [],
  status: SessionDetail['status'] = 'completed',
): SessionView {
  const detail = { id: 'session', status } as SessionDetail;
  return { session: detail, stages, events, calls: new Map(), version: 1 };
}
