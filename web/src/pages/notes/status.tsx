/** Labels for the status and source of notes. */
import type { Note } from '@/api/types';
import { Badge, type Tone } from '@/ui/badge';

interface Look {
  label: string;
  tone: Tone;
  spin?: boolean;
}

export const statusLabels: Record<Note['status'], string> = {
  queued: 'Queued',
  extracted: 'Organizing',
  done: 'Done',
  failed: 'Failed',
};

export const sourceLabels: Record<Note['source'], string> = {
  cli: 'Command line',
  web: 'Dashboard',
  discord: 'Discord',
  session: 'Session',
};

/** A queued or extracted note with an error has failed before and will be retried. */
export function lookOf({ status, processing_error }: Pick<Note, 'status' | 'processing_error'>): Look {
  const label = statusLabels[status] ?? status;
  switch (status) {
    case 'queued':
      return processing_error ? { label: 'Retrying', tone: 'warn' } : { label, tone: 'idle' };
    case 'extracted':
      return processing_error ? { label: 'Retrying', tone: 'warn' } : { label, tone: 'running', spin: true };
    case 'done':
      return { label, tone: 'good' };
    default:
      return { label, tone: 'bad' };
  }
}

export function NoteStatus({ note }: { note: Pick<Note, 'status' | 'processing_error'> }) {
  const { label, tone, spin } = lookOf(note);
  return (
    <Badge tone={tone} spin={spin} data-status={note.status}>
      {label}
    </Badge>
  );
}
