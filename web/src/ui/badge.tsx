import { CircleCheck, CircleDashed, CircleX, LoaderCircle, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cn } from './cn';

/** The tone of a status; styles.css has colours of the same names. */
export type Tone = 'running' | 'good' | 'found' | 'bad' | 'warn' | 'idle';

export const toneText: Record<Tone, string> = {
  running: 'text-running',
  good: 'text-good',
  found: 'text-found',
  bad: 'text-bad',
  warn: 'text-warn',
  idle: 'text-idle',
};

const looks: Record<Tone, { icon: LucideIcon; colours: string }> = {
  running: { icon: LoaderCircle, colours: 'bg-running-soft text-running' },
  good: { icon: CircleCheck, colours: 'bg-good-soft text-good' },
  found: { icon: CircleCheck, colours: 'bg-found-soft text-found' },
  bad: { icon: CircleX, colours: 'bg-bad-soft text-bad' },
  warn: { icon: TriangleAlert, colours: 'bg-warn-soft text-warn' },
  idle: { icon: CircleDashed, colours: 'bg-idle-soft text-idle' },
};

/** A status as a word with an icon: many people cannot tell it by colour alone. */
export function Badge({
  tone,
  icon: Icon = looks[tone].icon,
  spin = false,
  className,
  children,
  ...props
}: ComponentProps<'span'> & { tone: Tone; icon?: LucideIcon; spin?: boolean }) {
  return (
    <span
      className={cn(
        'inline-flex h-6 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        looks[tone].colours,
        className,
      )}
      {...props}
    >
      <Icon className={cn('size-3.5', spin && 'animate-spin')} aria-hidden />
      {children}
    </span>
  );
}
