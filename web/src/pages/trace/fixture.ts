/** Small traces for the tests of the trace page. */
import type { LLMInteractionItem, MCPInteractionItem, Trace, TraceExecution, Usage } from '@/api/types';

export const begin = Date.UTC(2026, 0, 1);
const usage: Usage = {
  input_tokens: 1,
  output_tokens: 1,
  thinking_tokens: 0,
  cached_tokens: 0,
  total_tokens: 2,
  cost_usd: 0.1,
  unpriced_tokens: 0,
};

export function llm(
  id: string,
  endsAt: number,
  duration_ms: number,
  more: Partial<LLMInteractionItem> = {},
): LLMInteractionItem {
  return {
    id,
    interaction_type: 'iteration',
    provider: 'google',
    model_name: 'gemini',
    message_count: 2,
    usage,
    duration_ms,
    attempts: 1,
    stop_reason: 'end',
    error_code: '',
    error_message: '',
    created_at: new Date(begin + endsAt).toISOString(),
    ...more,
  };
}

export function mcp(
  id: string,
  startsAt: number,
  duration_ms: number,
  more: Partial<MCPInteractionItem> = {},
): MCPInteractionItem {
  return {
    id,
    timeline_event_id: `event-${id}`,
    tool_call_id: id,
    server_name: 'kubernetes',
    tool_name: 'pods_list',
    status: 'completed',
    is_error: false,
    attempt: 1,
    read_only: true,
    duration_ms,
    error_message: '',
    created_at: new Date(begin + startsAt).toISOString(),
    completed_at: new Date(begin + startsAt + duration_ms).toISOString(),
    summarized: false,
    ...more,
  };
}

export function execution(id: string, llms: LLMInteractionItem[], mcps: MCPInteractionItem[]): TraceExecution {
  return {
    execution_id: id,
    agent_name: `agent ${id}`,
    agent_index: 1,
    iteration_strategy: 'react',
    llm_provider: 'google',
    status: 'completed',
    usage,
    llm_interactions: llms,
    mcp_interactions: mcps,
  };
}

export function traceOf(stages: TraceExecution[][], session: LLMInteractionItem[] = []): Trace {
  return {
    session_id: 's',
    version: 1,
    usage,
    session_interactions: session,
    interruptions: [],
    stages: stages.map((executions, n) => ({
      stage_id: `stage-${n + 1}`,
      stage_name: `stage ${n + 1}`,
      stage_type: 'investigation',
      stage_index: n + 1,
      status: 'completed',
      usage,
      executions: executions.map((one, m) => ({ ...one, agent_index: m + 1 })),
    })),
  };
}

export const trace = traceOf(
  [
    [execution('a', [llm('l1', 1000, 1000), llm('l2', 3000, 500)], [mcp('m1', 1100, 300)])],
    [execution('b', [llm('l3', 5000, 900)], []), execution('c', [llm('l4', 5500, 1200)], [])],
  ],
  [llm('sum', 7000, 100, { interaction_type: 'executive_summary' })],
);
