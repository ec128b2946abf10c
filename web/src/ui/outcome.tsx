import { BadgeCheck, CircleHelp, CircleSlash2, Hand, type LucideIcon, Search, SearchCheck } from 'lucide-react';
import { outcomeWord } from '@/text/words';
import { Badge, type Tone, toneText } from './badge';
import { cn } from './cn';
import { StatusBadge, StatusIcon } from './status';

/** Green means that nobody has to act: a completed session that found an outage is not good news. */
const looks: Record<string, { tone: Tone; icon: LucideIcon }> = {
  cause_found: { tone: 'found', icon: SearchCheck },
  probable_cause: { tone: 'found', icon: Search },
  inconclusive: { tone: 'idle', icon: CircleHelp },
  false_alarm: { tone: 'good', icon: BadgeCheck },
  needs_human: { tone: 'warn', icon: Hand },
};

function lookOf(outcome: string) {
  return looks[outcome] ?? { tone: 'idle' as const, icon: CircleSlash2 };
}

/** Returns the tone of an outcome. */
export function outcomeTone(outcome: string): Tone {
  return lookOf(outcome).tone;
}

/** The outcome of a session, as a word with an icon. */
export function OutcomeBadge({ outcome, className }: { outcome: string; className?: string }) {
  return (
    <Badge {...lookOf(outcome)} className={className} data-outcome={outcome}>
      {outcomeWord(outcome)}
    </Badge>
  );
}

/** The icon of an outcome; its accessible name is the word. */
export function OutcomeIcon({ outcome, className }: { outcome: string; className?: string }) {
  const { tone, icon: Icon } = lookOf(outcome);
  return (
    <Icon className={cn('size-4 shrink-0', toneText[tone], className)} role="img" aria-label={outcomeWord(outcome)} />
  );
}

interface Concluded {
  status: string;
  outcome: string;
}

/**
 * The outcome of a session with a verdict, otherwise its status: "Completed" does not distinguish an outage from a
 * false alarm.
 */
export function SessionBadge({ session }: { session: Concluded }) {
  if (session.status !== 'completed' || session.outcome === '') return <StatusBadge status={session.status} />;
  return <OutcomeBadge outcome={session.outcome} />;
}

export function SessionIcon({ session }: { session: Concluded }) {
  if (session.status !== 'completed' || session.outcome === '') return <StatusIcon status={session.status} />;
  return <OutcomeIcon outcome={session.outcome} />;
}
