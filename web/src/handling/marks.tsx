/** Badges for how people handled a session: its state, assignee and tags. */
import { CircleCheck, CircleDashed, Eye, type LucideIcon, UserRound } from 'lucide-react';
import type { Handling } from '@/api/types';
import { Badge, type Tone } from '@/ui/badge';
import { cn } from '@/ui/cn';
import { handlingWord } from './words';

const looks: Record<string, { tone: Tone; icon: LucideIcon }> = {
  open: { tone: 'idle', icon: CircleDashed },
  acknowledged: { tone: 'found', icon: Eye },
  resolved: { tone: 'good', icon: CircleCheck },
};

export function HandlingBadge({ state }: { state: string }) {
  return (
    <Badge {...(looks[state] ?? { tone: 'idle' as const, icon: CircleDashed })} data-handling={state}>
      {handlingWord(state)}
    </Badge>
  );
}

export function HandlingIcon({ state }: { state: string }) {
  const Icon = looks[state]?.icon ?? CircleDashed;
  return <Icon className="size-4" />;
}

export function Tag({ tag }: { tag: string }) {
  return (
    <span
      className="inline-block h-5 max-w-32 truncate rounded border border-line bg-sunken px-1.5 text-xs leading-[1.15rem] text-ink-soft"
      title={tag}
      data-testid="tag"
    >
      {tag}
    </span>
  );
}

/** How many tags fit in a row of the list. */
const shown = 2;

/** For a row of the list; renders nothing for a session that nobody has handled. */
export function HandlingMarks({ handling, className }: { handling: Handling | null; className?: string }) {
  if (!handling || (handling.state === 'open' && handling.assignee === '' && handling.tags.length === 0)) {
    return null;
  }
  const more = handling.tags.length - shown;
  return (
    <span
      className={cn('flex min-w-0 shrink-0 items-center gap-1.5 max-md:flex-wrap', className)}
      data-testid="handling"
    >
      {handling.state !== 'open' && <HandlingBadge state={handling.state} />}
      {handling.assignee !== '' && (
        <span className="flex max-w-36 min-w-0 items-center gap-1 text-xs text-ink-soft" title={handling.assignee}>
          <UserRound className="size-3.5 shrink-0" aria-hidden />
          <span className="sr-only">Assigned to </span>
          <span className="truncate">{handling.assignee}</span>
        </span>
      )}
      {handling.tags.length > 0 && <span className="sr-only">Tags </span>}
      {handling.tags.slice(0, shown).map((tag) => (
        <Tag key={tag} tag={tag} />
      ))}
      {more > 0 && (
        <span className="text-xs text-ink-soft" title={handling.tags.slice(shown).join(', ')}>
          +{more}
          <span className="sr-only"> more</span>
        </span>
      )}
    </span>
  );
}
