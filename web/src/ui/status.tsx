import { Ban, CircleCheck, CircleDashed, CircleX, Clock, Hourglass, LoaderCircle, type LucideIcon } from 'lucide-react';
import { statusWord } from '@/text/words';
import { Badge, type Tone, toneText } from './badge';
import { cn } from './cn';

interface Look {
  icon: LucideIcon;
  tone: Tone;
  spin?: boolean;
}

const running: Look = { icon: LoaderCircle, tone: 'running', spin: true };

/** The look of each status; text/words.ts has the labels. */
const looks: Record<string, Look> = {
  pending: { icon: CircleDashed, tone: 'idle' },
  in_progress: running,
  active: running,
  started: running,
  streaming: running,
  waiting: { icon: Hourglass, tone: 'warn' },
  cancelling: { icon: LoaderCircle, tone: 'warn', spin: true },
  completed: { icon: CircleCheck, tone: 'good' },
  failed: { icon: CircleX, tone: 'bad' },
  cancelled: { icon: Ban, tone: 'idle' },
  timed_out: { icon: Clock, tone: 'warn' },
  unknown: { icon: CircleDashed, tone: 'warn' },
};

function lookOf(status: string): Look {
  return looks[status] ?? { icon: CircleDashed, tone: 'idle' };
}

export const statusLabel = statusWord;

export function StatusBadge({ status, className }: { status: string; className?: string }) {
  return (
    <Badge {...lookOf(status)} className={className} data-status={status}>
      {statusWord(status)}
    </Badge>
  );
}

/** The icon of a status, where a row has no space for the word, which is its accessible name. */
export function StatusIcon({ status, className }: { status: string; className?: string }) {
  const { icon: Icon, tone, spin } = lookOf(status);
  return (
    <Icon
      className={cn('size-4 shrink-0', toneText[tone], spin && 'animate-spin', className)}
      role="img"
      aria-label={statusWord(status)}
    />
  );
}
