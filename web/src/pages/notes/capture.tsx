/** The input field for a note. The draft is saved until the note is captured. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { NotebookPen } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { api, body } from '@/api/client';
import * as notes from '@/api/notes';
import { useScope } from '@/app/scope';
import { bytes } from '@/text/format';
import { Button } from '@/ui/button';
import { keepDraft, readDraft } from '@/ui/draft';
import { ProblemPanel } from '@/ui/feedback';
import { Textarea } from '@/ui/input';
import { Kbd } from '@/ui/kbd';

const draftKey = 'tarsy.draft.note';
/** The server's size limit of a note. */
const maxBytes = 64 * 1024;

const encoder = new TextEncoder();

export function Capture({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  const client = useQueryClient();
  const may = useScope('write');
  const [text, setText] = useState(() => readDraft(draftKey));
  const [captured, setCaptured] = useState('');
  useEffect(() => keepDraft(draftKey, text), [text]);
  // One key per text: resending after a lost response must not create a second note.
  const key = useRef({ text: '', value: '' });
  const hint = useId();
  const capture = useMutation({
    mutationFn: (content: string) => {
      if (key.current.text !== content) key.current = { text: content, value: crypto.randomUUID() };
      const header = { 'Idempotency-Key': key.current.value };
      return body(api.POST('/api/v1/notes', { params: { header }, body: { content, source: 'web' } }));
    },
    onSuccess: (_, content) => {
      key.current = { text: '', value: '' };
      // Text typed while the request was in flight is kept.
      setText((now) => (now.startsWith(content) ? now.slice(content.length).trimStart() : now));
      setCaptured('Note captured.');
      return client.invalidateQueries({ queryKey: notes.keys.notes });
    },
  });
  const size = encoder.encode(text).length;
  const tooLong = size > maxBytes;
  const ready = may && text.trim() !== '' && !tooLong && !capture.isPending;
  const submit = () => {
    if (ready) capture.mutate(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      className="rounded-lg border border-line bg-surface p-3"
      aria-label="Capture a note"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Textarea
        ref={field}
        aria-label="New note"
        aria-describedby={hint}
        aria-invalid={tooLong || undefined}
        placeholder="What happened, what was decided, who does what until when?"
        rows={3}
        className="field-sizing-content max-h-96 min-h-20 resize-none"
        value={text}
        disabled={!may}
        onChange={(event) => {
          setText(event.target.value);
          setCaptured('');
        }}
        onKeyDown={onKeyDown}
        data-testid="capture-text"
      />
      {capture.error && <ProblemPanel className="mt-2 p-3" error={capture.error} />}
      <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-2">
        <p id={hint} className="min-w-0 flex-1 basis-48 text-xs text-ink-soft">
          {tooLong
            ? `${bytes(size)} is too long: a note has at most ${bytes(maxBytes)}.`
            : 'Tasks, decisions, questions, risks and insights are extracted from the note, each with its evidence.'}
        </p>
        <span className="sr-only" role="status">
          {captured}
        </span>
        <Button
          type="submit"
          variant="primary"
          disabled={!ready}
          aria-keyshortcuts="Control+Enter Meta+Enter"
          data-testid="capture"
        >
          <NotebookPen aria-hidden />
          {capture.isPending ? 'Capturing…' : 'Capture note'}
          <Kbd keys="mod+enter" className="ml-1 max-sm:hidden" />
        </Button>
      </div>
    </form>
  );
}
