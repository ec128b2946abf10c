/** The Submit page, for a new alert or to resubmit a session's (`?from=`). */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import * as queries from '@/api/queries';
import { useTitle } from '@/app/title';
import { shortId } from '@/text/format';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { formOf } from './form';
import { SubmitView } from './view';

const route = getRouteApi('/shell/submit');

export function SubmitPage() {
  useTitle('New alert');
  const { from } = route.useSearch();
  return (
    <div className="mx-auto flex min-h-full w-full max-w-[150rem] flex-col gap-4 p-4">
      <h1 className="text-lg font-semibold">{from === undefined ? 'New alert' : 'New alert from a session'}</h1>
      {from === undefined ? <SubmitView key="new" filled={null} /> : <Again key={from} sessionId={from} />}
    </div>
  );
}

function Again({ sessionId }: { sessionId: string }) {
  // Loaded once: a refetch must not replace what is being edited.
  const session = useQuery({ ...queries.session(sessionId), staleTime: Number.POSITIVE_INFINITY });
  if (session.isPending) return <Loading what="the session's alert" rows={6} />;
  if (session.data === undefined) return <ProblemPanel error={session.error} retry={() => void session.refetch()} />;
  return (
    <>
      <p className="max-w-prose rounded-md border border-line bg-surface px-3 py-2 text-ink-soft">
        Copied from session{' '}
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId }}
          className="font-mono text-xs text-accent underline underline-offset-4"
        >
          {shortId(sessionId)}
        </Link>
        . Secrets were masked when the alert was stored; enter them again if the agents need them.
      </p>
      <SubmitView filled={formOf(session.data)} />
    </>
  );
}
