/**
 * The input field for questions. It has its own state, so that streaming does not re-render it and typing re-renders
 * nothing else.
 */
import { SendHorizontal, Square } from 'lucide-react';
import { type KeyboardEvent, memo, useEffect, useId, useRef, useState } from 'react';
import { Button } from '@/ui/button';
import { keepDraft, readDraft } from '@/ui/draft';
import { ProblemPanel } from '@/ui/feedback';
import { Textarea } from '@/ui/input';
import type { Permit } from './permit';

interface ComposerProps {
  sessionId: string;
  permit: Permit;
  /** Sends a question; resolves when the server has accepted it. */
  send: (question: string) => Promise<unknown>;
  sending: boolean;
  /** The error of the last question. */
  error: Error | null;
  /** Stops the answer; undefined if none is being written. */
  stop: (() => void) | undefined;
  stopping: boolean;
  focused: boolean;
  /** Suggested questions, shown while the field is empty. */
  suggestions: readonly string[];
}

const fieldId = 'chat-field';

/** Focuses the field of an open chat. */
export function focusComposer(): void {
  document.getElementById(fieldId)?.focus({ preventScroll: true });
}

const draftKeyOf = (sessionId: string) => `tarsy.draft.${sessionId}`;

/** Reports whether there is an unsent question. */
export function hasDraft(sessionId: string): boolean {
  return readDraft(draftKeyOf(sessionId)) !== '';
}

export const Composer = memo(function Composer({
  sessionId,
  permit,
  send,
  sending,
  error,
  stop,
  stopping,
  focused,
  suggestions,
}: ComposerProps) {
  const draftKey = draftKeyOf(sessionId);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (focused) field.current?.focus({ preventScroll: true });
  }, [focused]);
  const [text, setText] = useState(() => readDraft(draftKey));
  useEffect(() => keepDraft(draftKey, text), [draftKey, text]);
  const hint = useId();
  const reason = permit.state === 'refused' ? permit.reason : '';
  const question = text.trim();
  const ready = permit.state === 'allowed' && !sending && question !== '';

  const submit = () => {
    if (!ready) return;
    send(question).then(
      // Text typed while the request was in flight starts the next question.
      () => setText((now) => (now.startsWith(text) ? now.slice(text.length) : now)),
      // The draft is kept; the error is shown above it.
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
      {error && (
        <div className="mb-2">
          <ProblemPanel error={error} className="p-3" />
          {question !== '' && (
            <p className="mt-1 text-xs text-ink-soft" data-testid="chat-unsent">
              Your question was not sent. It stays in the box; send it when you want to try again.
            </p>
          )}
        </div>
      )}
      {suggestions.length > 0 && text === '' && (
        <ul className="mb-2 space-y-1.5" aria-label="Suggested questions">
          {suggestions.map((suggestion) => (
            <li key={suggestion}>
              <Button
                size="sm"
                className="h-auto min-h-8 w-full justify-start py-1.5 text-left whitespace-normal pointer-coarse:min-h-11"
                onClick={() => {
                  setText(suggestion);
                  field.current?.focus({ preventScroll: true });
                }}
                data-testid="chat-suggestion"
              >
                {suggestion}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="flex items-end gap-2">
        <Textarea
          ref={field}
          id={fieldId}
          data-palette="none"
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
