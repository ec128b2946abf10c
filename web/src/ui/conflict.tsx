import { RotateCw, TriangleAlert } from 'lucide-react';
import { asProblem } from '@/api/problem';
import { Button } from './button';
import { ProblemPanel } from './feedback';

/**
 * Reports whether someone else was faster: the row has changed (412), or its state no longer allows the request (409).
 */
export function isConflict(error: unknown): boolean {
  const { status } = asProblem(error);
  return status === 409 || status === 412;
}

/** A rejected change. On a conflict it says so and offers to reload. */
export function ChangeProblem({
  error,
  reload,
  className,
}: {
  error: unknown;
  reload: () => void;
  className?: string;
}) {
  if (!isConflict(error)) return <ProblemPanel error={error} className={className} />;
  return <Conflict message={asProblem(error).message} reload={reload} className={className} />;
}

export function Conflict({ message, reload, className }: { message: string; reload: () => void; className?: string }) {
  return (
    <div
      role="alert"
      className={`flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-warn/40 bg-warn-soft p-3 text-ink ${className ?? ''}`}
      data-testid="conflict"
    >
      <TriangleAlert className="size-5 shrink-0 text-warn" aria-hidden />
      <div className="min-w-0 flex-1 basis-48">
        <p className="font-semibold">Changed by someone else</p>
        <p className="break-words text-ink-soft first-letter:uppercase">{message}</p>
      </div>
      <Button size="sm" onClick={reload} data-testid="conflict-reload">
        <RotateCw aria-hidden /> Reload
      </Button>
    </div>
  );
}
