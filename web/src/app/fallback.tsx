/** Pages shown if the requested one does not exist, failed, or is loading. */
import { Link, useRouter } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { useEffect } from 'react';
import { isUnreachable, Problem } from '@/api/problem';
import { Button } from '@/ui/button';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { isAlive, MissingPart } from './failure';
import { useTitle } from './title';

export function NotFound() {
  useTitle('Not found');
  return (
    <EmptyState title={<h1>Page not found</h1>}>
      <p>The link may be wrong, or the page was removed.</p>
      <Button asChild className="mt-4">
        <Link to="/">Back to sessions</Link>
      </Button>
    </EmptyState>
  );
}

export function PagePending() {
  return <Loading what="the page" className="mx-auto max-w-4xl" />;
}

export function PageProblem({ error }: { error: unknown }) {
  const router = useRouter();
  if (error instanceof MissingPart) {
    return (
      <EmptyState title={<h1>Dashboard updated</h1>}>
        <p>This tab runs an older version that the server no longer has. Reload to continue.</p>
        <ReloadButton />
      </EmptyState>
    );
  }
  if (isUnreachable(error)) return <Unreachable error={error} />;
  if (error instanceof Problem) {
    return <ProblemPanel className="mx-auto mt-8 max-w-2xl" error={error} retry={() => void router.invalidate()} />;
  }
  return (
    <EmptyState title={<h1>Something went wrong in the dashboard</h1>}>
      <p>The server and its sessions are not affected. Reload the page, and report this error if it happens again:</p>
      <pre className="mt-3 max-h-40 overflow-auto rounded-md border border-line bg-sunken p-3 text-left font-mono text-xs whitespace-pre-wrap">
        {String(error)}
      </pre>
      <ReloadButton />
    </EmptyState>
  );
}

/** How often a page that failed to load checks whether the server is back. */
const askMs = 5_000;

/** Reloads the page once the server is back: a part that failed to load cannot be loaded again without a reload. */
function Unreachable({ error }: { error: unknown }) {
  useEffect(() => {
    const timer = setInterval(reloadIfAlive, askMs);
    return () => clearInterval(timer);
  }, []);
  return <ProblemPanel className="mx-auto mt-8 max-w-2xl" error={error} retry={reloadIfAlive} />;
}

function reloadIfAlive(): void {
  isAlive().then(
    () => globalThis.location.reload(),
    () => {}, // Still unreachable; the panel shows it.
  );
}

function ReloadButton() {
  return (
    <Button className="mt-4" variant="primary" onClick={() => globalThis.location.reload()}>
      <RotateCw aria-hidden /> Reload
    </Button>
  );
}
