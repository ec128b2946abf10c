/** Similar past sessions: how they ended, and people's feedback on them. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { SimilarSession } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { counted } from '@/text/format';
import { plainText } from '@/text/plain';
import { confidenceWord, ratingWord } from '@/text/words';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { cn } from '@/ui/cn';
import { ProblemPanel } from '@/ui/feedback';
import { SessionBadge } from '@/ui/outcome';
import { Ago, DateTime } from '@/ui/time';
import { RatingBadge } from './rating';

/** Loaded separately, after the session: the page does not wait for it. */
export function SeenBefore({ sessionId }: { sessionId: string }) {
  const { data, error, refetch } = useQuery(queries.similarSessions(sessionId));
  if (data === undefined) {
    return error ? <ProblemPanel error={error} retry={() => void refetch()} /> : null;
  }
  if (data.sessions.length === 0) {
    return (
      <p className="px-1 text-[13px] text-ink-soft" data-testid="seen-before-none">
        Not seen before: no past session resembles this one.
      </p>
    );
  }
  return (
    <Card aria-labelledby={headingId} className="@container" data-testid="seen-before">
      <CardHeader>
        {/* The page header links here. */}
        <CardTitle id={headingId} tabIndex={-1} className="scroll-mt-16 rounded-sm">
          Seen before
        </CardTitle>
        <span className="text-[13px] text-ink-soft">{counted(data.sessions.length, 'similar session')}</span>
      </CardHeader>
      <ol className="divide-y divide-line">
        {data.sessions.map((past) => (
          <PastSession key={past.id} past={past} />
        ))}
      </ol>
    </Card>
  );
}

const headingId = 'seen-before';

/**
 * A link for the page header, which stays visible: the card is far from the end that a reader follows. The link keeps
 * its space before the sessions are loaded, so that it does not move what the reader is about to click. A phone has no
 * space for it, but the palette always has it.
 */
export function SeenBeforeLink({ sessionId }: { sessionId: string }) {
  const count = useQuery(queries.similarSessions(sessionId)).data?.sessions.length ?? 0;
  const label = counted(count, 'similar session');
  usePageCommands(
    count > 0
      ? [{ id: 'seen before', label, keywords: ['seen before'], icon: <History aria-hidden />, run: showSeenBefore }]
      : [],
  );
  return (
    <div className={cn('max-sm:hidden', count === 0 && 'invisible')}>
      <dt className="inline text-ink-faint">Seen before </dt>
      <dd className="inline">
        <button
          type="button"
          className="min-h-6 text-accent underline underline-offset-2 pointer-coarse:min-h-11"
          onClick={showSeenBefore}
          data-palette="none"
          data-testid="seen-before-link"
        >
          {label}
        </button>
      </dd>
    </div>
  );
}

export function showSeenBefore(): void {
  const heading = document.getElementById(headingId);
  heading?.scrollIntoView({ block: 'start' });
  heading?.focus({ preventScroll: true });
}

function PastSession({ past }: { past: SimilarSession }) {
  const wrong = past.rating === 'wrong';
  return (
    <li className="space-y-1.5 px-4 py-3" data-testid="past-session" data-rating={past.rating}>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: past.id }}
          className="min-w-0 flex-[1_1_12rem] font-medium break-words text-accent underline-offset-4 hover:underline pointer-coarse:py-3"
        >
          {titleOf(past)}
        </Link>
        {wrong ? (
          <RatingBadge rating="wrong" words="Marked wrong" />
        ) : (
          <>
            <SessionBadge session={past} />
            {past.rating !== '' && (
              <RatingBadge rating={past.rating} words={`Rated ${ratingWord(past.rating).toLowerCase()}`} />
            )}
          </>
        )}
      </div>
      <Cause past={past} />
      <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-[13px] text-ink-soft">
        <span data-testid="past-reason">{reasonOf(past)}</span>
        <span>
          <DateTime at={past.created_at} /> (<Ago at={past.created_at} />)
        </span>
        {!wrong && past.confidence !== '' && <span>{confidenceWord(past.confidence)} confidence</span>}
      </p>
    </li>
  );
}

/** The cause; one that someone rated wrong is omitted. */
function Cause({ past }: { past: SimilarSession }) {
  const real = past.real_cause.trim();
  const cause = past.rating === 'wrong' ? '' : plainText(past.cause);
  if (real === '' && cause === '') {
    return past.rating === 'wrong' ? <p className="text-ink-soft">Nobody has named the real cause.</p> : null;
  }
  return (
    <div className="max-w-[75ch] [overflow-wrap:anywhere]" data-testid="past-cause">
      {cause !== '' && <p>{cause}</p>}
      {real !== '' && (
        <p>
          <span className="font-medium">Real cause:</span> {real}
        </p>
      )}
    </div>
  );
}

const mostLabels = 4;

function reasonOf({ likeness, shared_labels }: SimilarSession): string {
  if (likeness === 'fingerprint') return 'Same alert';
  if (likeness === 'text') return 'Similar text';
  if (likeness !== 'labels') return likeness;
  const labels = Object.entries(shared_labels).map(([name, value]) => `${name}=${value}`);
  const more = labels.length - mostLabels;
  return `Similar labels: ${labels.slice(0, mostLabels).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
