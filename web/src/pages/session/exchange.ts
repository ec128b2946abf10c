/**
 * The questions and answers of a session, derived from its structure: each stage of type `chat` answers one question.
 */
import type { EventView, Lookup, SessionView, StageView } from '@/live/view';

export interface Exchange {
  stageId: string;
  /** The status of the stage: `active` while the answer is in progress. */
  status: string;
  question?: string;
  /** The event with the answer, or with the text written so far. */
  answer?: string;
  /** Whether the answer is final. */
  answered: boolean;
  /** Thoughts and tool calls behind the answer; `first` is the event to link to. */
  thoughts: { count: number; first?: string };
  toolCalls: { count: number; first?: string };
  /** Why there is no answer, as a message for people. */
  problem: string;
  /** The position among the events of the session. */
  sequence: number;
}

/** A question that was accepted but cannot be answered. It has no stage. */
export interface Refusal {
  /** The id that the sender received. */
  messageId: string;
  reason: string;
  at: string;
  sequence: number;
}

/** Returns the refused questions, from the session's error events. */
export function refusalsOf(view: SessionView, lookup: Lookup): Refusal[] {
  return view.events.flatMap((id) => {
    const event = lookup(id);
    const { code, message_id: messageId } = event?.metadata ?? {};
    if (!event || code !== 'question_refused' || typeof messageId !== 'string') return [];
    return [{ messageId, reason: event.content, at: event.created_at, sequence: event.sequence_number }];
  });
}

export function exchangesOf(view: SessionView, lookup: Lookup): Exchange[] {
  return view.stages.filter(isChat).map((stage) => exchangeOf(stage, lookup));
}

/** Reports whether anyone has asked a question. */
export function hasExchanges(view: SessionView): boolean {
  return view.stages.some(isChat);
}

/** Reports whether an answer is in progress. */
export function isAnswering(view: SessionView): boolean {
  return view.stages.some((stage) => isChat(stage) && stage.stage.status === 'active');
}

function isChat({ stage }: StageView): boolean {
  return stage.stage_type === 'chat';
}

function exchangeOf(view: StageView, lookup: Lookup): Exchange {
  const ids = [view.events, ...view.executions.map((execution) => execution.events)].flat();
  const ofType = (type: string) => ids.filter((id) => lookup(id)?.event_type === type);
  const analysis = ofType('final_analysis').at(-1);
  const thoughts = ofType('llm_thinking');
  const toolCalls = ofType('llm_tool_call');
  return {
    stageId: view.stage.id,
    status: view.stage.status,
    question: ofType('user_question')[0],
    answer: analysis ?? ofType('llm_response').at(-1),
    answered: analysis !== undefined,
    thoughts: { count: thoughts.length, first: thoughts[0] },
    toolCalls: { count: toolCalls.length, first: toolCalls[0] },
    sequence: lookup(ids[0] ?? '')?.sequence_number ?? Number.POSITIVE_INFINITY,
    problem: view.stage.error_message || (view.executions.at(-1)?.execution.error_message ?? ''),
  };
}

/** Returns the event of the session's last final analysis; its metadata has the check of the citations. */
export function finalAnalysisOf(view: SessionView, lookup: Lookup): EventView | undefined {
  for (const stage of view.stages.toReversed()) {
    if (isChat(stage)) continue;
    for (const execution of stage.executions.toReversed()) {
      const id = execution.events.findLast((event) => lookup(event)?.event_type === 'final_analysis');
      if (id !== undefined) return lookup(id);
    }
  }
  return undefined;
}

export interface Evidence {
  /** How many tool calls the text cites. */
  cited: number;
  /** Citations that match no tool call of the session. */
  unknown: string[];
}

/** Reads the server's check of an analysis's citations. */
export function evidenceOf(event: EventView | undefined): Evidence {
  const citations = event?.metadata?.citations;
  const unknown = event?.metadata?.unknown_citations;
  return {
    cited: Array.isArray(citations) ? citations.length : 0,
    unknown: Array.isArray(unknown) ? unknown.filter((call) => typeof call === 'string') : [],
  };
}
