/**
 * A session's journal, and the REST responses at each of its events: a second, simpler implementation of
 * docs/events.md.
 */
import type { ExecutionDetail, SessionDetail, StageDetail, Timeline, TimelineEvent } from '@/api/types';
import type { Approval, JournalMessage, StageStatusMessage } from '../message';

export const sessionId = '00000000-0000-7000-8000-000000000001';
const channel = `session:${sessionId}`;

/** Without the fields common to all journal events. */
type Draft = JournalMessage extends infer M
  ? M extends JournalMessage
    ? Omit<M, 'channel' | 'db_event_id' | 'session_id' | 'timestamp'>
    : never
  : never;

function timeOf(number: number): string {
  return new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
}

export interface PlannedEvent {
  content: string;
  whole: boolean;
  /** Whether it is a call that needs an approval, which is granted. */
  asks?: boolean;
}

export interface Plan {
  /** The events of each execution of each stage, with their texts. */
  stages: { events: PlannedEvent[][] }[];
  chat: boolean;
}

/** Returns the journal of a session that succeeds. */
export function journalOf(plan: Plan): JournalMessage[] {
  const journal: JournalMessage[] = [];
  const append = (draft: Draft) => {
    const db_event_id = journal.length + 1;
    journal.push({ ...draft, channel, db_event_id, session_id: sessionId, timestamp: timeOf(db_event_id) });
  };
  let sequence = 0;
  append({ type: 'session.status', status: 'pending' });
  append({ type: 'session.status', status: 'in_progress' });
  const runStage = (
    index: number,
    type: StageStatusMessage['stage_type'],
    executions: Plan['stages'][number]['events'],
  ) => {
    const stage_id = `stage-${index}`;
    const stage = {
      type: 'stage.status',
      stage_id,
      stage_index: index,
      stage_name: `stage ${index}`,
      stage_type: type,
      expected_agent_count: 7,
    } as const;
    append({ ...stage, status: 'started' });
    const agent = (n: number) =>
      ({
        type: 'execution.status',
        stage_id,
        execution_id: `${stage_id}-${n}`,
        agent_index: n,
        agent_name: `agent ${n}`,
      }) as const;
    for (const n of executions.keys()) append({ ...agent(n + 1), status: 'started' });
    // Round by round, like agents running in parallel; an event that starts in one round ends in the next.
    const open: (() => void)[] = [];
    const rounds = Math.max(0, ...executions.map((events) => events.length));
    for (let round = 0; round < rounds; round++) {
      for (const finish of open.splice(0)) finish();
      for (const [n, events] of executions.entries()) {
        const event = events[round];
        if (event === undefined) continue;
        const event_id = `${stage_id}-${n + 1}-${round}`;
        const call = `${index}.${n + 1}.${round + 1}`;
        const tool = { call, server_name: 'cluster', tool_name: 'get_pods', arguments: { text: event.content } };
        const kinds = [
          { event_id, event_type: 'llm_response' },
          { event_id, event_type: 'llm_tool_call', metadata: tool },
          { event_id, event_type: 'final_analysis' },
        ] as const;
        if (event.asks) {
          const asked: Approval = {
            status: 'waiting',
            scope: 'call',
            rule: 'approvals.rules[0]',
            expires_at: timeOf(9999),
          };
          const given: Approval = { ...asked, status: 'approved', decided_by: 'ada', decided_at: timeOf(0) };
          const metadata = (approval: Approval) => ({ ...tool, approval_id: `mcp-${event_id}`, approval });
          const place = { stage_id, execution_id: `${stage_id}-${n + 1}` };
          const status = (approval: Approval) =>
            append({
              type: 'approval.status',
              ...place,
              event_id,
              approval_id: `mcp-${event_id}`,
              server_name: tool.server_name,
              tool_name: tool.tool_name,
              arguments: tool.arguments,
              approval,
            });
          append({
            ...kinds[1],
            type: 'timeline_event.created',
            status: 'streaming',
            content: '',
            sequence_number: ++sequence,
            ...place,
            metadata: metadata(asked),
          });
          status(asked);
          open.push(() => {
            status(given);
            append({
              ...kinds[1],
              type: 'timeline_event.completed',
              status: 'completed',
              content: event.content,
              metadata: metadata(given),
            });
          });
          continue;
        }
        const facts = event.whole ? kinds[2] : round % 2 === 0 ? kinds[0] : kinds[1];
        append({
          ...facts,
          type: 'timeline_event.created',
          status: event.whole ? 'completed' : 'streaming',
          content: event.whole ? event.content : '',
          sequence_number: ++sequence,
          stage_id,
          execution_id: `${stage_id}-${n + 1}`,
        });
        if (!event.whole)
          open.push(() =>
            append({ ...facts, type: 'timeline_event.completed', status: 'completed', content: event.content }),
          );
      }
    }
    for (const finish of open.splice(0)) finish();
    for (const n of executions.keys()) append({ ...agent(n + 1), status: 'completed' });
    append({ ...stage, status: 'completed' });
  };
  for (const [n, stage] of plan.stages.entries()) runStage(n + 1, 'investigation', stage.events);
  append({
    type: 'timeline_event.created',
    event_id: 'summary',
    event_type: 'executive_summary',
    status: 'completed',
    content: 'In short.',
    sequence_number: ++sequence,
  });
  append({ type: 'session.status', status: 'completed' });
  if (plan.chat) {
    const index = plan.stages.length + 1;
    append({ type: 'chat.created', chat_id: 'chat', created_by: 'ada' });
    const stage_id = `stage-${index}`;
    append({
      type: 'chat.user_message',
      chat_id: 'chat',
      message_id: 'question',
      stage_id,
      author: 'ada',
      content: 'Why?',
    });
    runStage(index, 'chat', [[{ content: 'An answer.', whole: false }]]);
  }
  return journal;
}

const used = (tokens: number) => ({
  input_tokens: tokens,
  output_tokens: 0,
  thinking_tokens: 0,
  cached_tokens: 0,
  total_tokens: tokens,
  cost_usd: tokens / 1000,
  unpriced_tokens: 0,
});

/** Returns the session as REST reports it at one of its events. */
export function detailAt(journal: readonly JournalMessage[], version: number): SessionDetail {
  const stages: StageDetail[] = [];
  const session: SessionDetail = {
    id: sessionId,
    version,
    stages,
    chat: null,
    alert_type: 'kubernetes',
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
    status: 'pending',
    author: 'ada',
    runbook: '',
    runbook_url: '',
    llm_provider: '',
    reruns: [],
    tools: [],
    slack_message_fingerprint: '',
    mcp_selection: null,
    rerun_of: null,
    pod_id: '',
    stage_count: 1,
    current_stage_index: 0,
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
    created_at: timeOf(0),
    started_at: null,
    completed_at: null,
    last_interaction_at: null,
    deleted_at: null,
    usage: used(version),
    tool_calls: version,
    waiting_approvals: 0,
  };
  const questions = new Map<string, string>();
  for (const message of journal.slice(0, version)) {
    const at = message.timestamp;
    if (message.type === 'session.status') {
      session.status = message.status;
      if (message.status === 'in_progress') session.started_at = at;
      if (message.status === 'completed') session.completed_at = at;
    } else if (message.type === 'chat.created') {
      session.chat = { id: 'chat', session_id: sessionId, created_by: 'ada', created_at: at, last_interaction_at: at };
    } else if (message.type === 'chat.user_message') {
      questions.set(message.stage_id, message.message_id);
    } else if (message.type === 'stage.status' && message.status === 'started') {
      const question = questions.get(message.stage_id);
      stages.push({
        id: message.stage_id,
        session_id: sessionId,
        stage_name: message.stage_name,
        stage_type: message.stage_type,
        stage_index: message.stage_index,
        expected_agent_count: message.expected_agent_count,
        parallel_type: 'agents',
        success_policy: 'any',
        chat_id: question === undefined ? null : 'chat',
        chat_user_message_id: question ?? null,
        status: 'active',
        error_message: '',
        created_at: at,
        started_at: at,
        completed_at: null,
        usage: used(version),
        tool_calls: 3,
        executions: [],
      });
      if (message.stage_type !== 'chat') {
        session.current_stage_index = message.stage_index;
        session.current_stage_id = message.stage_id;
      }
    } else if (message.type === 'stage.status') {
      Object.assign(stages.find((stage) => stage.id === message.stage_id) ?? {}, {
        status: message.status,
        completed_at: at,
      });
    } else if (message.type === 'execution.status') {
      const list = stages.find((stage) => stage.id === message.stage_id)?.executions ?? [];
      if (message.status === 'started') list.push(execution(message, version));
      else
        Object.assign(list.find((one) => one.id === message.execution_id) ?? {}, {
          status: message.status,
          completed_at: at,
        });
    }
  }
  return session;
}

function execution(message: JournalMessage & { type: 'execution.status' }, version: number): ExecutionDetail {
  return {
    id: message.execution_id,
    session_id: sessionId,
    stage_id: message.stage_id,
    agent_name: message.agent_name,
    agent_index: message.agent_index,
    iteration_strategy: 'react',
    llm_provider: 'google',
    forced_conclusion: '',
    shortened_through: 0,
    status: 'active',
    error_code: '',
    error_message: '',
    created_at: message.timestamp,
    started_at: message.timestamp,
    completed_at: null,
    usage: used(version),
    tool_calls: 1,
  };
}

/** Returns the timeline at one of the session's events; `saved` returns the stored text of a streaming event. */
export function timelineAt(
  journal: readonly JournalMessage[],
  version: number,
  saved: (eventId: string) => string = () => '',
): Timeline {
  const events: TimelineEvent[] = [];
  for (const message of journal.slice(0, version)) {
    if (message.type === 'timeline_event.created') {
      const content = message.status === 'streaming' ? saved(message.event_id) : message.content;
      events.push({
        id: message.event_id,
        session_id: sessionId,
        stage_id: message.stage_id ?? null,
        execution_id: message.execution_id ?? null,
        sequence_number: message.sequence_number,
        event_type: message.event_type,
        status: message.status,
        content,
        metadata: message.metadata ?? null,
        created_at: message.timestamp,
        updated_at: message.timestamp,
        completed_at: message.status === 'streaming' ? null : message.timestamp,
        content_length: content.length,
        truncated: false,
      });
    } else if (message.type === 'timeline_event.completed') {
      const { status, content, timestamp } = message;
      const final = { status, content, content_length: content.length, updated_at: timestamp, completed_at: timestamp };
      const event = events.find((each) => each.id === message.event_id);
      if (event) Object.assign(event, final, { metadata: message.metadata ?? event.metadata });
    } else if (message.type === 'approval.status') {
      const event = events.find((each) => each.id === message.event_id);
      if (event) event.metadata = { ...event.metadata, approval_id: message.approval_id, approval: message.approval };
    }
  }
  return { session_id: sessionId, version, events };
}

/** Returns a timeline as `?preview=` cuts it. */
export function previewed(timeline: Timeline, length: number): Timeline {
  const events = timeline.events.map((event) => {
    const long = JSON.stringify(event.metadata?.arguments ?? null).length > length;
    const { arguments: _, ...rest } = event.metadata ?? {};
    const half = /[\ud800-\udbff]/.test(event.content.charAt(length - 1)) ? 1 : 0;
    return {
      ...event,
      content: event.content.length > length ? event.content.slice(0, length - half) : event.content,
      metadata: long ? rest : event.metadata,
      truncated: long || event.content.length > length,
    };
  });
  return { ...timeline, events };
}
