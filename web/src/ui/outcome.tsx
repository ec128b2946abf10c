import { BadgeCheck, CircleHelp, CircleSlash2, Hand, type LucideIcon, Search, SearchCheck } from 'lucide-react';
import { outcomeWord } from '@/text/words';
import { Badge, type Tone } from './badge';

/** Green is for what needs nobody: a session that found an outage has completed, and nothing is well. */
const looks: Record<string, { tone: Tone; icon: LucideIcon }> = {
  cause_found: { tone: 'running', icon: SearchCheck },
  probable_cause: { tone: 'running', icon: Search },
  inconclusive: { tone: 'idle', icon: CircleHelp },
  false_alarm: { tone: 'good', icon: BadgeCheck },
  needs_human: { tone: 'warn', icon: Hand },
};

/** The colour of an outcome, by the name that styles.css has for it. */
export function outcomeTone(outcome: string): Tone {
  return looks[outcome]?.tone ?? 'idle';
}

/** What kind of conclusion a session has, in a word with its icon. */
export function OutcomeBadge({ outcome, className }: { outcome: string; className?: string }) {
  const { tone, icon } = looks[outcome] ?? { tone: 'idle' as const, icon: CircleSlash2 };
  return (
    <Badge tone={tone} icon={icon} className={className} data-outcome={outcome}>
      {outcomeWord(outcome)}
    </Badge>
  );
}
