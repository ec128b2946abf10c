import { Ban, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle, type LucideIcon } from 'lucide-react';
import { Badge, type Tone, toneText } from './badge';
import { cn } from './cn';

interface Look {
  label: string;
  icon: LucideIcon;
  tone: Tone;
  spin?: boolean;
}

const running: Look = { label: 'Running', icon: LoaderCircle, tone: 'running', spin: true };

/** Every status that sessions, stages, executions, calls and events can have, as people read it. */
const looks: Record<string, Look> = {
  pending: { label: 'Queued', icon: CircleDashed, tone: 'idle' },
  in_progress: running,
  active: running,
  started: running,
  streaming: running,
  cancelling: { label: 'Cancelling', icon: LoaderCircle, tone: 'warn', spin: true },
  completed: { label: 'Completed', icon: CircleCheck, tone: 'good' },
  failed: { label: 'Failed', icon: CircleX, tone: 'bad' },
  cancelled: { label: 'Cancelled', icon: Ban, tone: 'idle' },
  timed_out: { label: 'Timed out', icon: Clock, tone: 'warn' },
  unknown: { label: 'Outcome unknown', icon: CircleDashed, tone: 'warn' },
};

function lookOf(status: string): Look {
  return looks[status] ?? { label: status, icon: CircleDashed, tone: 'idle' };
}

export function statusLabel(status: string): string {
  return lookOf(status).label;
}

export function StatusBadge({ status, className }: { status: string; className?: string }) {
  const { label, ...look } = lookOf(status);
  return (
    <Badge {...look} className={className} data-status={status}>
      {label}
    </Badge>
  );
}

/** The same without its word, where a row has no room; the word is its accessible name. */
export function StatusIcon({ status, className }: { status: string; className?: string }) {
  const { label, icon: Icon, tone, spin } = lookOf(status);
  return (
    <Icon
      className={cn('size-4 shrink-0', toneText[tone], spin && 'animate-spin', className)}
      role="img"
      aria-label={label}
    />
  );
}
