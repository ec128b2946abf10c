/** The decisions of the last hour, each with an undo button. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Undo2 } from 'lucide-react';
import * as notes from '@/api/notes';
import { useScope } from '@/app/scope';
import { Button } from '@/ui/button';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { useNow } from '@/ui/now';
import { Ago } from '@/ui/time';
import { titleOf } from './change';
import { minutesLeft } from './queue';
import { kindLabels, statusLabels } from './words';

export function Recent({ onUndo, pending }: { onUndo: (id: string) => void; pending: string | undefined }) {
  const now = useNow(10_000);
  const may = useScope('write');
  const { data } = useQuery(notes.decidedReviews());
  const rows = (data?.items ?? [])
    .flatMap((item) =>
      item.resolved_at ? [{ item, at: item.resolved_at, left: minutesLeft(item.resolved_at, now) }] : [],
    )
    .filter(({ left }) => left > 0)
    .sort((a, b) => b.at.localeCompare(a.at));
  if (rows.length === 0) return null;
  return (
    <Card aria-labelledby="review-recent">
      <CardHeader>
        <CardTitle id="review-recent">Recent decisions</CardTitle>
        <span className="text-[13px] text-ink-soft">Can be undone for an hour</span>
      </CardHeader>
      <ul className="divide-y divide-line">
        {rows.map(({ item, at, left }) => (
          <li
            key={item.id}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2"
            data-testid="recent-decision"
          >
            <span className="w-36 shrink-0 font-medium max-sm:w-auto">{statusLabels[item.status]}</span>
            <Link
              to="/review"
              search={{ item: item.id }}
              className="min-w-0 flex-1 truncate underline-offset-4 hover:underline max-sm:order-1 max-sm:basis-full"
            >
              {titleOf(item)}
            </Link>
            <span className="text-[13px] text-ink-soft max-md:hidden">{kindLabels[item.kind]}</span>
            <span className="text-[13px] text-ink-soft">
              {item.resolved_by && `${item.resolved_by}, `}
              <Ago at={at} />
            </span>
            <Button
              size="sm"
              className="max-sm:order-2"
              disabled={!may || pending === item.id}
              aria-label={`Undo: ${titleOf(item)}`}
              title={`${left} min left`}
              onClick={() => onUndo(item.id)}
              data-testid="recent-undo"
            >
              <Undo2 aria-hidden /> Undo
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
