/** Small sessions for tests of this page's logic. */
import type { ExecutionDetail, SessionDetail, StageDetail, TimelineEvent } from '@/api/types';
import type { EventView, SessionView, StageView } from '@/live/view';

const usage = {
  input_tokens: 0,
  output_tokens: 0,
  thinking_tokens: 0,
  cached_tokens: 0,
  total_tokens: 0,
  cost_usd: 0,
  unpriced_tokens: 0,
};
const at = '2026-01-02T03:04:05Z';

export function sessionWith(parts: Partial<SessionDetail>): SessionDetail {
  return {
    id: 'session',
    alert_type: 'PodCrash',
    alert_data: '{}',
    chain_id: 'chain',
    agent_type: '',
    status: 'in_progress',
    author: 'ann',
    runbook: '',
    runbook_url: '',
    mcp_selection: null,
    rerun_of: null,
    pod_id: '',
    stage_count: 2,
    current_stage_index: 1,
    current_stage_id: null,
    final_analysis: '',
    executive_summary: '',
    executive_summary_error: '',
    error_code: '',
    error_message: '',
    concluded_early: '',
    created_at: at,
    started_at: at,
    completed_at: null,
    last_interaction_at: null,
    deleted_at: null,
    usage,
    tool_calls: 0,
    version: 1,
    stages: [],
    chat: null,
    ...parts,
  };
}

export interface StageParts extends Partial<Omit<StageDetail, 'executions'>> {
  /** Each execution by its agent's name: its status and the types of its events, as `type` or `type!content`. */
  agents?: Record<string, { status?: string; events?: Partial<TimelineEvent>[] }>;
}

/** Makes a view of stages; events are numbered as they are listed and named `e1`, `e2` … unless they have an id. */
export function viewWith(session: Partial<SessionDetail>, stages: StageParts[]) {
  const events = new Map<string, EventView>();
  const add = (parts: Partial<TimelineEvent>): string => {
    const number = events.size + 1;
    const event: EventView = {
      id: `e${number}`,
      session_id: 'session',
      stage_id: null,
      execution_id: null,
      sequence_number: number,
      event_type: 'llm_response',
      status: 'completed',
      content: '',
      content_length: 0,
      truncated: false,
      metadata: null,
      created_at: at,
      updated_at: at,
      completed_at: at,
      ...parts,
    };
    events.set(event.id, event);
    return event.id;
  };
  const views = stages.map(({ agents = {}, ...parts }, n): StageView => {
    const executions = Object.entries(agents).map(([name, agent], place) => ({
      execution: executionWith(name, place + 1, agent.status ?? parts.status ?? 'completed'),
      events: (agent.events ?? []).map(add),
    }));
    const stage: StageDetail = {
      id: `stage-${n + 1}`,
      session_id: 'session',
      stage_name: 'investigation',
      stage_type: 'investigation',
      stage_index: n + 1,
      expected_agent_count: executions.length,
      parallel_type: null,
      success_policy: null,
      chat_id: null,
      chat_user_message_id: null,
      status: 'completed',
      error_message: '',
      created_at: at,
      started_at: at,
      completed_at: null,
      usage,
      tool_calls: 0,
      executions: executions.map((one) => one.execution),
      ...parts,
    };
    return { stage, executions, events: [] };
  });
  const view: SessionView = { session: sessionWith(session), stages: views, events: [], calls: new Map(), version: 1 };
  return { view, lookup: (id: string) => events.get(id) };
}

function executionWith(name: string, place: number, status: string): ExecutionDetail {
  return {
    id: `execution-${name}`,
    session_id: 'session',
    stage_id: 'stage',
    agent_name: name,
    agent_index: place,
    iteration_strategy: '',
    llm_provider: '',
    forced_conclusion: '',
    shortened_through: 0,
    status,
    error_code: '',
    error_message: '',
    created_at: at,
    started_at: at,
    completed_at: null,
    usage,
    tool_calls: 0,
  };
}
