/**
 * The field in which questions are typed. Its state is its own: nothing that streams draws it, and what is typed draws
 * nothing else.
 */
import { SendHorizontal, Square } from 'lucide-react';
import { type KeyboardEvent, memo, useEffect, useId, useState } from 'react';
import { Button } from '@/ui/button';
import { keepDraft, readDraft } from '@/ui/draft';
import { ProblemPanel } from '@/ui/feedback';
import { Textarea } from '@/ui/input';
import type { Permit } from './permit';

interface ComposerProps {
  sessionId: string;
  permit: Permit;
  /** Sends a question; resolves when the server has it. */
  send: (question: string) => Promise<unknown>;
  sending: boolean;
  /** What came back instead of an answer. */
  error: Error | null;
  /** Stops the answer; undefined when none is being written. */
  stop: (() => void) | undefined;
  stopping: boolean;
}

export const Composer = memo(function Composer({
  sessionId,
  permit,
  send,
  sending,
  error,
  stop,
  stopping,
}: ComposerProps) {
  const draftKey = `tarsy.draft.${sessionId}`;
  const [text, setText] = useState(() => readDraft(draftKey));
  useEffect(() => keepDraft(draftKey, text), [draftKey, text]);
  const hint = useId();
  const reason = permit.state === 'refused' ? permit.reason : '';
  const question = text.trim();
  const ready = permit.state === 'allowed' && !sending && question !== '';

  const submit = () => {
    if (!ready) return;
    send(question).then(
      // What was typed while it was in flight starts the next question.
      () => setText((now) => (now.startsWith(text) ? now.slice(text.length) : now)),
      // The draft stays; the problem is shown above it.
      () => {},
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  return (
    <form
      className="border-t border-line p-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {error && <ProblemPanel error={error} className="mb-2 p-3" />}
      <div className="flex items-end gap-2">
        <Textarea
          aria-label="Ask about this session"
          aria-describedby={hint}
          placeholder="Ask about this session"
          rows={1}
          className="field-sizing-content max-h-48 min-h-9 flex-1 resize-none"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          data-testid="chat-input"
        />
        {stop ? (
          <Button
            variant="danger"
            size="icon"
            className="size-9"
            disabled={stopping}
            aria-label="Stop answer"
            title="Stop answer"
            onClick={stop}
            data-testid="chat-stop"
          >
            <Square aria-hidden />
          </Button>
        ) : (
          <Button
            type="submit"
            variant="primary"
            size="icon"
            className="size-9"
            disabled={!ready}
            aria-label="Send"
            title={reason || 'Send'}
            data-testid="chat-send"
          >
            <SendHorizontal aria-hidden />
          </Button>
        )}
      </div>
      <p id={hint} className="mt-1.5 text-xs text-ink-faint" data-testid="chat-hint">
        {stopping ? 'Stopping…' : reason || 'Enter to send, Shift+Enter for a new line.'}
      </p>
    </form>
  );
});
