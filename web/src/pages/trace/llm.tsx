/** An LLM call in full: its conversation, response, usage and cost. */
import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import type { LLMInteraction } from '@/api/types';
import { duration } from '@/text/format';
import { Answer } from '@/ui/answer';
import { CopyButton } from '@/ui/copy';
import { Failure } from '@/ui/failure';
import { ClockTime } from '@/ui/time';
import { Block } from './block';
import { Conversation, Message } from './conversation';
import { Fact, Facts, UsageFacts } from './facts';
import { chatCommand, chatRequest, fetchCommand, plainJson } from './request';

export function LLMDetails({ sessionId, id }: { sessionId: string; id: string }) {
  const query = useQuery(queries.llmInteraction(sessionId, id));
  return (
    <Answer query={query} what="the call" rows={8}>
      {(call) => <Call call={call} />}
    </Answer>
  );
}

function Call({ call }: { call: LLMInteraction }) {
  return (
    <div className="space-y-4 p-3 sm:p-4">
      <div className="flex flex-wrap gap-1" data-testid="copy-call">
        <CopyButton showLabel label="Copy JSON" text={() => plainJson(call, 2)} />
        <CopyButton
          showLabel
          label="Copy curl"
          text={() => fetchCommand(window.location.origin, call.session_id, 'llm', call.id)}
        />
        <CopyButton showLabel label="Copy chat request" text={() => plainJson(chatRequest(call), 2)} />
        <CopyButton showLabel label="Copy chat request as curl" text={() => chatCommand(call)} />
      </div>
      <Facts>
        <Fact name="Model">{call.model_name}</Fact>
        <Fact name="Provider">{call.provider}</Fact>
        <Fact name="Purpose">{call.interaction_type.replaceAll('_', ' ')}</Fact>
        <Fact name="Duration">{duration(call.duration_ms)}</Fact>
        <Fact name="Stop reason">{call.stop_reason || 'not reported'}</Fact>
        <Fact name="Attempts">{call.attempts}</Fact>
        <UsageFacts usage={call.usage} />
        <Fact name="Ended">
          <ClockTime at={call.created_at} />
        </Fact>
      </Facts>
      {call.error_code !== '' && <Failure code={call.error_code} message={call.error_message} />}
      {call.thinking_content !== '' && <Block title="Thinking" text={call.thinking_content} open={false} />}
      <section className="space-y-2" aria-label="Response" data-testid="response">
        <h3 className="font-semibold">Response</h3>
        {call.response === null ? (
          <p className="text-ink-soft">The call ended without a response.</p>
        ) : (
          <Message message={call.response} open />
        )}
      </section>
      <Conversation call={call} />
    </div>
  );
}
