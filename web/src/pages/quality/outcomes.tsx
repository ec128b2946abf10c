/** The number of sessions by outcome, each linked to its sessions in the list. */
import { Link } from '@tanstack/react-router';
import type { Quality } from '@/api/types';
import { counted, percent } from '@/text/format';
import { outcomes, outcomeWord } from '@/text/words';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { OutcomeIcon, outcomeTone } from '@/ui/outcome';

const fills = {
  found: 'bg-found',
  good: 'bg-good',
  warn: 'bg-warn',
  idle: 'bg-idle',
  bad: 'bg-bad',
  running: 'bg-running',
};

export function OutcomesCard({ quality }: { quality: Quality }) {
  const { total, from } = quality;
  return (
    <Card aria-labelledby="quality-outcomes">
      <CardHeader>
        <CardTitle id="quality-outcomes">Outcomes</CardTitle>
      </CardHeader>
      <ul className="p-2">
        {outcomes.map((outcome) => {
          const count = total.outcomes[outcome] ?? 0;
          const part = total.sessions === 0 ? 0 : count / total.sessions;
          return (
            <li key={outcome}>
              <Link
                to="/"
                search={{ outcome: [outcome], after: from }}
                className="flex min-h-11 items-center gap-3 rounded-md px-2 hover:bg-sunken"
                aria-label={`${outcomeWord(outcome)}: ${counted(count, 'session')}`}
                data-testid={`quality-outcome-${outcome}`}
              >
                <OutcomeIcon outcome={outcome} />
                <span className="w-28 shrink-0">{outcomeWord(outcome)}</span>
                <span className="h-1.5 min-w-8 flex-1 overflow-hidden rounded-full bg-idle-soft" aria-hidden>
                  <span
                    className={`block h-full rounded-full ${fills[outcomeTone(outcome)]}`}
                    style={{ width: `${part * 100}%` }}
                  />
                </span>
                <span className="w-10 text-right tabular-nums">{count}</span>
                <span className="w-11 text-right text-ink-soft tabular-nums">{percent(part)}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
