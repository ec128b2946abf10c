/** A note in the list: its beginning, its status, and what to do if it failed. */
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Note } from '@/api/types';
import { counted, firstLine } from '@/text/format';
import { Ago } from '@/ui/time';
import { ReprocessButton } from './reprocess';
import { NoteStatus, sourceLabels } from './status';

export const NoteRow = memo(function NoteRow({ note }: { note: Note }) {
  return (
    <li
      className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 hover:bg-sunken"
      data-testid="note-row"
      data-note-id={note.id}
      data-status={note.status}
    >
      <span className="w-28 shrink-0">
        <NoteStatus note={note} />
      </span>
      <div className="min-w-0 flex-1 max-md:order-1 max-md:basis-full">
        <Link
          to="/notes/$noteId"
          params={{ noteId: note.id }}
          className="block truncate font-medium underline-offset-4 hover:underline max-md:line-clamp-2 max-md:whitespace-normal"
        >
          {firstLine(note.content) || 'Empty note'}
        </Link>
        {note.processing_error && (
          <p className="line-clamp-2 text-[13px] break-words text-bad first-letter:uppercase" data-testid="note-error">
            {note.processing_error}
          </p>
        )}
        <p className="flex flex-wrap gap-x-3 text-[13px] text-ink-soft">
          <span>{outcomeOf(note)}</span>
          <span>{sourceLabels[note.source] ?? note.source}</span>
          {note.author && <span className="max-w-48 truncate">{note.author}</span>}
        </p>
      </div>
      {note.status === 'failed' && (
        <span className="max-md:order-2">
          <ReprocessButton noteId={note.id} />
        </span>
      )}
      <Ago at={note.created_at} className="text-[13px] text-ink-soft tabular-nums max-md:ml-auto" />
    </li>
  );
});

function outcomeOf(note: Note): string {
  if (!note.processed) return note.status === 'failed' ? 'Nothing extracted' : 'Not processed yet';
  return note.entity_count === 0 ? 'Nothing to extract' : counted(note.entity_count, 'item');
}
