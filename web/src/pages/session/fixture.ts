/** Small sessions for the tests of the session page and its timeline. */
import type { ExecutionDetail, SessionDetail, StageDetail, TimelineEvent } from '@/api/types';
import { nothingUsed } from '@/live/structure';
import type { EventView, ExecutionView, SessionView, StageView } from '@/live/view';

const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();

/** Events by id, numbered in the order they are added. */
export class Events {
  readonly #events = new Map<string, EventView>();

  add(id: string, eventType: string, parts: Partial<EventView> = {}): string {
    const number = this.#events.size + 1;
    this.#events.set(id, event(id, eventType, { sequence_number: number, created_at: at(number), ...parts }));
    return id;
  }

  /** Adds an event; without an id it is named `e1`, `e2` … */
  addNext(parts: Partial<EventView>): string {
    return this.add(parts.id ?? `e${this.#events.size + 1}`, parts.event_type ?? 'llm_response', parts);
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

export function execution(id: string, events: readonly string[], parts: Partial<ExecutionDetail> = {}): ExecutionView {
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
    usage: nothingUsed,
    tool_calls: 0,
    ...parts,
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
    usage: nothingUsed,
    tool_calls: 0,
    executions: executions.map((one) => one.execution),
    ...parts,
  };
  return { stage: detail, executions, events };
}

export function session(
  stages: readonly StageView[],
  events: readonly string[] = [],
  parts: Partial<SessionDetail> = {},
): SessionView {
  const detail: SessionDetail = {
    id: 'session',
    alert_type: 'PodCrash',
    alert: null,
    title: 'The pod web-1 crashes',
    severity: '',
    service: '',
    namespace: '',
    cluster: '',
    team: '',
    labels: {},
    links: [],
    starts_at: null,
    fingerprint: '',
    group_key: '',
    source: 'api',
    receiver: '',
    alert_data: '{}',
    chain_id: 'chain',
    agent_type: '',
    status: 'completed',
    author: 'ann',
    runbook: '',
    llm_provider: '',
    reruns: [],
    tools: [],
    slack_message_fingerprint: '',
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
    outcome: '',
    cause: '',
    verdict_error: '',
    verdict: null,
    feedback: [],
    handling: null,
    error_code: '',
    error_message: '',
    concluded_early: '',
    created_at: at(0),
    started_at: at(0),
    completed_at: null,
    last_interaction_at: null,
    deleted_at: null,
    usage: nothingUsed,
    tool_calls: 0,
    waiting_approvals: 0,
    version: 1,
    stages: stages.map((one) => one.stage),
    chat: null,
    ...parts,
  };
  return { session: detail, stages, events, calls: new Map(), waiting: [], version: 1 };
}

interface StageParts extends Partial<Omit<StageDetail, 'executions'>> {
  /** Executions by agent name. */
  agents?: Record<string, { status?: string; events?: Partial<TimelineEvent>[] }>;
}

/** Returns a running session with the given stages. */
export function viewWith(parts: Partial<SessionDetail>, stages: StageParts[]) {
  const events = new Events();
  const views = stages.map(({ agents = {}, ...stageParts }, n) => {
    const executions = Object.entries(agents).map(([name, agent], place) =>
      execution(
        `execution-${name}`,
        (agent.events ?? []).map((one) => events.addNext(one)),
        { agent_name: name, agent_index: place + 1, status: agent.status ?? stageParts.status ?? 'completed' },
      ),
    );
    return stage(`stage-${n + 1}`, executions, { stage_name: 'investigation', stage_index: n + 1, ...stageParts });
  });
  return { view: session(views, [], { status: 'in_progress', ...parts }), lookup: events.lookup };
}
