import { Ban, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle, type LucideIcon } from 'lucide-react';
import { cn } from './cn';

/** Every status that sessions, stages, executions, calls and events can have, as people read it. */
const looks: Record<string, { label: string; icon: LucideIcon; tone: string; spin?: boolean }> = {
  pending: { label: 'Waiting', icon: CircleDashed, tone: 'bg-idle-soft text-idle' },
  in_progress: { label: 'Running', icon: LoaderCircle, tone: 'bg-running-soft text-running', spin: true },
  active: { label: 'Running', icon: LoaderCircle, tone: 'bg-running-soft text-running', spin: true },
  started: { label: 'Running', icon: LoaderCircle, tone: 'bg-running-soft text-running', spin: true },
  streaming: { label: 'Running', icon: LoaderCircle, tone: 'bg-running-soft text-running', spin: true },
  cancelling: { label: 'Cancelling', icon: LoaderCircle, tone: 'bg-warn-soft text-warn', spin: true },
  completed: { label: 'Completed', icon: CircleCheck, tone: 'bg-good-soft text-good' },
  failed: { label: 'Failed', icon: CircleX, tone: 'bg-bad-soft text-bad' },
  cancelled: { label: 'Cancelled', icon: Ban, tone: 'bg-idle-soft text-idle' },
  timed_out: { label: 'Timed out', icon: Clock, tone: 'bg-warn-soft text-warn' },
  unknown: { label: 'Outcome unknown', icon: CircleDashed, tone: 'bg-warn-soft text-warn' },
};

const strange = { label: '', icon: CircleDashed, tone: 'bg-idle-soft text-idle', spin: false };

export function statusLabel(status: string): string {
  return looks[status]?.label ?? status;
}

/** A status with its word: colour alone says nothing to many people. */
export function StatusBadge({ status, className }: { status: string; className?: string }) {
  const look = looks[status] ?? strange;
  const Icon = look.icon;
  return (
    <span
      className={cn(
        'inline-flex h-6 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        look.tone,
        className,
      )}
      data-status={status}
    >
      <Icon className={cn('size-3.5', look.spin && 'animate-spin')} aria-hidden />
      {look.label || status}
    </span>
  );
}

/** The same without its word, where a row has no room; the word is its accessible name. */
export function StatusIcon({ status, className }: { status: string; className?: string }) {
  const look = looks[status] ?? strange;
  const Icon = look.icon;
  const colour = look.tone.split(' ').find((name) => name.startsWith('text-'));
  return (
    <Icon
      className={cn('size-4 shrink-0', colour, look.spin && 'animate-spin', className)}
      role="img"
      aria-label={look.label || status}
    />
  );
}
