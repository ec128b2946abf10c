/**
 * The messages of an LLM call. An agent that makes thousands of calls has thousands of them, so those in the middle are
 * rendered on demand.
 */
import { useState } from 'react';
import type { LLMInteraction, TraceMessage } from '@/api/types';
import { counted, tokens } from '@/text/format';
import { Button } from '@/ui/button';
import { Block } from './block';

/** How many messages are rendered initially: the first and the last. */
const head = 10;
const tail = 40;
/** How many messages the button adds. */
const more = 200;
/** A message with more tool calls than this is collapsed initially. */
const manyCalls = 20;

export function Conversation({ call }: { call: LLMInteraction }) {
  const { conversation: messages, shortened_through: shortened } = call;
  const [shown, setShown] = useState(tail);
  const from = Math.max(head, messages.length - shown);
  const message = (n: number) => {
    const one = messages[n];
    return one && <Message key={n} message={one} number={n + 1} />;
  };
  return (
    <section className="space-y-2" aria-label="Conversation" data-testid="conversation">
      <h3 className="font-semibold">
        Conversation <span className="font-normal text-ink-faint">{counted(messages.length, 'message')}</span>
      </h3>
      {shortened > 0 && (
        <p className="text-ink-soft">
          Tool results up to message {shortened} were shortened because the conversation was too long.
        </p>
      )}
      {messages.length === 0 && <p className="text-ink-soft">No conversation was recorded for this call.</p>}
      {range(0, Math.min(head, messages.length)).map(message)}
      {from > head && (
        <p className="flex flex-wrap items-center gap-2 text-ink-soft" data-testid="messages-between">
          {counted(from - head, 'message')} between
          <Button size="sm" onClick={() => setShown(shown + more)}>
            Show {Math.min(more, from - head)} more
          </Button>
        </p>
      )}
      {range(from, messages.length).map(message)}
    </section>
  );
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);
}

const roles: Record<string, string> = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' };

export function Message({ message, number, open }: { message: TraceMessage; number?: number; open?: boolean }) {
  const calls = message.tool_calls.length;
  const title = `${number === undefined ? '' : `${number}. `}${roles[message.role] ?? message.role}`;
  const notes = [
    message.tool_name,
    message.content.length > 0 ? `${tokens(message.content.length)} characters` : '',
    calls > 0 ? counted(calls, 'tool call') : '',
  ];
  return (
    <Block
      title={title}
      note={notes.filter((note) => note !== '').join(' · ')}
      text={message.content}
      open={calls > manyCalls ? false : open}
    >
      {message.tool_calls.map((call) => (
        <Block key={call.id} title={call.name} note="tool call" text={call.arguments} />
      ))}
    </Block>
  );
}
