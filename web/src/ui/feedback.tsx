/** Placeholders for content that is loading, failed or empty. */
import { CircleAlert, RotateCw } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { asProblem } from '@/api/problem';
import { Button } from './button';
import { cn } from './cn';

export function Skeleton({ className }: { className?: string }) {
  return <div className={cn('animate-pulse rounded bg-idle-soft', className)} aria-hidden />;
}

export function Loading({ what, rows = 4, className }: { what: string; rows?: number; className?: string }) {
  const widths = ['w-full', 'w-11/12', 'w-4/5', 'w-2/3'];
  return (
    <div className={cn('space-y-3 p-4', className)} role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, row) => row).map((row) => (
        <Skeleton key={row} className={cn('h-5', widths[row % widths.length])} />
      ))}
    </div>
  );
}

/** Shows the server's message unmodified. `focused` panels take the focus, and again for each new error. */
export function ProblemPanel({
  error,
  retry,
  focused = false,
  className,
}: {
  error: unknown;
  retry?: () => void;
  focused?: boolean;
  className?: string;
}) {
  const problem = asProblem(error);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focused && error) panel.current?.focus();
  }, [focused, error]);
  return (
    <div
      ref={panel}
      role="alert"
      tabIndex={focused ? -1 : undefined}
      className={cn('flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-4 text-ink', className)}
    >
      <CircleAlert className="mt-0.5 size-5 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{problem.title}</p>
        <p className="mt-0.5 break-words text-ink-soft">{problem.message}</p>
        <p className="mt-1 font-mono text-xs text-ink-soft">
          {problem.code}
          {problem.field && ` · ${problem.field}`}
          {problem.instance && ` · ${problem.instance}`}
        </p>
        {retry && (
          <Button className="mt-3" size="sm" onClick={retry}>
            <RotateCw aria-hidden /> Try again
          </Button>
        )}
      </div>
    </div>
  );
}

export function EmptyState({ title, children, icon }: { title: ReactNode; children?: ReactNode; icon?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-12 text-center">
      {icon && <div className="text-ink-faint [&_svg]:size-8">{icon}</div>}
      <div className="text-base font-semibold">{title}</div>
      {children && <div className="max-w-prose text-ink-soft">{children}</div>}
    </div>
  );
}
