/** Saves the analysis of a session as a note, and shows the notes about the session. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { NotebookPen } from 'lucide-react';
import { api, body } from '@/api/client';
import * as notes from '@/api/notes';
import type { Entity } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useScope } from '@/app/scope';
import { statusLabels, types } from '@/pages/board/labels';
import { counted, dueLabel } from '@/text/format';
import { Button } from '@/ui/button';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { ProblemPanel } from '@/ui/feedback';

/** The notes about a session and the entities found in them; renders nothing if there are no notes. */
export function SessionNotes({ sessionId }: { sessionId: string }) {
  const { data: list } = useInfiniteQuery(notes.notes({ session_id: sessionId }));
  const { data: found } = useQuery(notes.sessionEntities(sessionId));
  const kept = list?.pages[0]?.notes ?? [];
  const entities = found?.entities ?? [];
  if (kept.length === 0) return null;
  return (
    <Card aria-labelledby="session-notes" data-testid="session-notes">
      <CardHeader>
        <CardTitle id="session-notes" className="flex-1">
          Tasks and notes
        </CardTitle>
        <Link
          to="/notes"
          search={{ session: sessionId }}
          className="text-[13px] text-accent underline underline-offset-4"
        >
          {counted(list?.pages[0]?.total ?? kept.length, 'note')}
        </Link>
      </CardHeader>
      {entities.length === 0 ? (
        <p className="px-4 py-3 text-ink-soft">
          {kept.some(notes.isProcessing)
            ? 'Tasks are being extracted from the note.'
            : 'No tasks came from the notes of this session.'}
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {entities.map((entity) => (
            <Row key={entity.id} entity={entity} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Row({ entity }: { entity: Entity }) {
  const { icon: Icon, label } = types[entity.type];
  return (
    <li>
      <Link
        to="/board"
        search={{ entity: entity.id }}
        className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-2 hover:bg-sunken"
        data-testid="session-entity"
      >
        <Icon className="size-4 shrink-0 text-ink-soft" role="img" aria-label={label} />
        <span className="min-w-0 flex-1 font-medium break-words">{entity.title}</span>
        <span className="text-[13px] text-ink-soft">
          {[entity.owner, entity.due_on && `due ${dueLabel(entity.due_on)}`, statusLabels[entity.status]]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </Link>
    </li>
  );
}

/** Saves the analysis of a session as a note, or opens the existing note. */
export function KeepButton({ sessionId, className }: { sessionId: string; className: string }) {
  const { data: list } = useInfiniteQuery(notes.notes({ session_id: sessionId }));
  const own = list?.pages[0]?.notes.find((note) => note.source === 'session');
  return own ? (
    <Button asChild size="sm" className={className}>
      <Link to="/notes/$noteId" params={{ noteId: own.id }} title="Open note" data-testid="open-note">
        <NotebookPen aria-hidden />
        <span className="md:max-xl:sr-only">Open note</span>
      </Link>
    </Button>
  ) : (
    <Keep sessionId={sessionId} className={className} ready={list !== undefined} />
  );
}

function Keep({ sessionId, className, ready }: { sessionId: string; className: string; ready: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const may = useScope('write');
  const keep = useMutation({
    // The idempotency key contains the session: saving twice, even from two tabs, creates one note.
    mutationFn: () =>
      body(
        api.POST('/api/v1/notes', {
          params: { header: { 'Idempotency-Key': `keep-${sessionId}` } },
          body: { source: 'session', session_id: sessionId },
        }),
      ),
    onSuccess: ({ note }) => {
      void client.invalidateQueries({ queryKey: notes.keys.notes });
      void navigate({ to: '/notes/$noteId', params: { noteId: note.id } });
    },
  });
  const run = () => {
    if (may && !keep.isPending) keep.mutate();
  };
  usePageCommands(
    may ? [{ id: 'keep', label: 'Keep as note', keywords: ['tasks'], icon: <NotebookPen aria-hidden />, run }] : [],
  );
  return (
    <>
      <Button
        size="sm"
        className={className}
        disabled={!may || !ready || keep.isPending}
        title={may ? 'Keep as note: turn the recommendations into tasks' : 'Your access is read-only.'}
        onClick={run}
        data-palette="none"
        data-testid="keep-note"
      >
        <NotebookPen aria-hidden />
        <span className="md:max-xl:sr-only">{keep.isPending ? 'Keeping…' : 'Keep as note'}</span>
      </Button>
      {keep.error && <ProblemPanel className="w-full p-3" error={keep.error} />}
    </>
  );
}
