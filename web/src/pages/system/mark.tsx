import { CircleCheck, CircleDashed, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from '@/ui/cn';

export type Tone = 'good' | 'bad' | 'warn' | 'idle';

const looks: Record<Tone, { icon: LucideIcon; tone: string }> = {
  good: { icon: CircleCheck, tone: 'bg-good-soft text-good' },
  bad: { icon: CircleX, tone: 'bg-bad-soft text-bad' },
  warn: { icon: TriangleAlert, tone: 'bg-warn-soft text-warn' },
  idle: { icon: CircleDashed, tone: 'bg-idle-soft text-idle' },
};

/** A state in a word, for what is no session. */
export function Mark({ tone, children }: { tone: Tone; children: ReactNode }) {
  const look = looks[tone];
  return (
    <span
      className={cn(
        'inline-flex h-6 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        look.tone,
      )}
    >
      <look.icon className="size-3.5" aria-hidden />
      {children}
    </span>
  );
}
