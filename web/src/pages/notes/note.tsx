/** A note: its text with highlighted evidence, and the extracted entities beside it. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, SquareKanban } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import * as notes from '@/api/notes';
import { asProblem } from '@/api/problem';
import type { NoteDetail } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useTitle } from '@/app/title';
import { typeLabel } from '@/pages/board/labels';
import { counted, firstLine, shortId } from '@/text/format';
import { MarkedText } from '@/text/marked-text';
import { Button } from '@/ui/button';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { CopyButton } from '@/ui/copy';
import { Failure } from '@/ui/failure';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { Ago } from '@/ui/time';
import { EntityCard } from './entity-card';
import { passagesOf } from './passages';
import { ReprocessButton } from './reprocess';
import { NoteStatus, sourceLabels } from './status';

const route = getRouteApi('/shell/notes/$noteId');

export function NotePage() {
  const { noteId } = route.useParams();
  const found = useQuery(notes.note(noteId));
  useTitle(found.data ? firstLine(found.data.content, 60) || 'Note' : 'Note');
  if (found.data) return <Note key={noteId} note={found.data} stale={found.error} retry={() => void found.refetch()} />;
  if (found.isPending) {
    return (
      <div className="mx-auto max-w-6xl p-4">
        <h1 className="sr-only">Note</h1>
        <Loading what="the note" rows={6} />
      </div>
    );
  }
  const problem = asProblem(found.error);
  return (
    <EmptyState title={<h1>{problem.status === 404 ? 'Note not found' : 'Could not load the note'}</h1>}>
      <p className="break-words">{problem.message}</p>
      <div className="mt-4 flex justify-center gap-2">
        <Button asChild>
          <Link to="/notes">Back to notes</Link>
        </Button>
        {problem.status !== 404 && <Button onClick={() => void found.refetch()}>Try again</Button>}
      </div>
    </EmptyState>
  );
}

function Note({ note, stale, retry }: { note: NoteDetail; stale: Error | null; retry: () => void }) {
  const text = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [active, setActive] = useState<string>();
  const passages = useMemo(() => passagesOf(note.entities, note.id), [note]);
  const open = note.review_items.filter((item) => item.status === 'open');
  usePageCommands([
    {
      id: 'copy',
      label: 'Copy the text of this note',
      run: () => void navigator.clipboard.writeText(note.content).catch(() => {}),
    },
  ]);
  const showPassage = (id: string) => {
    const link = text.current?.querySelector<HTMLElement>(`[data-evidence~="${CSS.escape(id)}"] a`);
    link?.scrollIntoView({ block: 'center' });
    link?.focus({ preventScroll: true });
    setActive(id);
  };
  const showEntity = (id: string) => {
    const card = list.current?.querySelector<HTMLElement>(`[data-entity-id="${CSS.escape(id)}"]`);
    card?.scrollIntoView({ block: 'nearest' });
    card?.querySelector<HTMLElement>('a')?.focus({ preventScroll: true });
  };
  const title = (id: string) => {
    const entity = note.entities.find((one) => one.id === id);
    return entity ? `${typeLabel(entity.type)}: ${entity.title}` : '';
  };
  return (
    <div className="mx-auto w-full max-w-[100rem] space-y-3 p-3 sm:p-4" data-testid="note" data-status={note.status}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <nav aria-label="Breadcrumb">
          <Link
            to="/notes"
            className="flex h-8 items-center gap-0.5 rounded-md pr-2 text-ink-soft hover:bg-sunken hover:text-ink"
          >
            <ChevronLeft className="size-4" aria-hidden />
            Notes
          </Link>
        </nav>
        <h1 className="text-base font-semibold">Note</h1>
        <NoteStatus note={note} />
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <ReprocessButton noteId={note.id} />
          <CopyButton text={() => `${globalThis.location.origin}/notes/${note.id}`} label="Copy link" />
        </div>
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-[13px] text-ink-soft">
        <span>
          Captured <Ago at={note.created_at} />
          {note.author && <> by {note.author}</>}
        </span>
        <span>{sourceLabels[note.source] ?? note.source}</span>
        {note.session_id && (
          <span>
            About session{' '}
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: note.session_id }}
              className="font-mono text-accent underline underline-offset-2"
            >
              {shortId(note.session_id)}
            </Link>
          </span>
        )}
      </p>
      {stale && <ProblemPanel error={stale} retry={retry} />}
      {note.processing_error && (
        <Failure
          title={note.status === 'failed' ? 'Processing failed' : 'The last attempt failed; it will be retried'}
          message={note.processing_error}
        />
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card aria-labelledby="note-text">
          <CardHeader>
            <CardTitle id="note-text" className="flex-1">
              Text
            </CardTitle>
            <CopyButton text={note.content} label="Copy text" />
          </CardHeader>
          <CardBody>
            <div ref={text} data-testid="note-text">
              <MarkedText
                text={note.content}
                passages={passages}
                active={active}
                onActive={setActive}
                onChoose={showEntity}
                labelOf={title}
                className="max-w-[85ch] text-[15px]"
              />
            </div>
          </CardBody>
        </Card>
        <section aria-labelledby="note-entities" className="space-y-2 lg:sticky lg:top-4">
          <h2 id="note-entities" className="flex min-h-8 items-center gap-2 text-sm font-semibold">
            Extracted
            {note.entities.length > 0 && (
              <span className="font-normal text-ink-soft tabular-nums">{counted(note.entities.length, 'item')}</span>
            )}
          </h2>
          {open.length > 0 && (
            <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
              {counted(open.length, 'decision')} needed.{' '}
              <Link to="/review" search={{ item: open[0]?.id }} className="font-medium underline underline-offset-4">
                Review
              </Link>
            </p>
          )}
          {note.entities.length === 0 ? (
            <NothingExtracted note={note} />
          ) : (
            <ul ref={list} className="space-y-2">
              {note.entities.map((entity) => (
                <EntityCard
                  key={entity.id}
                  entity={entity}
                  reviewId={open.find((item) => item.entity_id === entity.id)?.id}
                  active={active === entity.id}
                  onActive={setActive}
                  onShow={
                    passages.some((passage) => passage.id === entity.id) ? () => showPassage(entity.id) : undefined
                  }
                />
              ))}
            </ul>
          )}
        </section>
      </div>
    </div>
  );
}

function NothingExtracted({ note }: { note: NoteDetail }): ReactNode {
  if (notes.isProcessing(note)) return <Loading what="extracted items" rows={3} className="px-0" />;
  if (note.status === 'failed')
    return <p className="text-ink-soft">Nothing was extracted. Reprocess the note to try again.</p>;
  return (
    <p className="text-ink-soft">
      The note has no tasks, decisions, questions, risks or insights. Create one on the{' '}
      <Link to="/board" className="inline-flex items-center gap-1 text-accent underline underline-offset-4">
        <SquareKanban className="size-3.5" aria-hidden />
        board
      </Link>
      .
    </p>
  );
}
