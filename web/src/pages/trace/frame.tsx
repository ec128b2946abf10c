/** The header of the trace, shown in every state of the page. */
import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { titleOf } from '@/alert/facts';
import type { Trace } from '@/api/types';
import type { SessionView } from '@/live/view';
import { counted, duration, tokens } from '@/text/format';
import { Cost } from '@/ui/cost';
import type { Call } from './calls';

export function Frame({
  sessionId,
  view,
  actions,
  facts,
  children,
}: {
  sessionId: string;
  view: SessionView | undefined;
  actions?: ReactNode;
  facts?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex h-full min-h-0 flex-col" data-testid="trace">
      <header className="border-b border-line bg-surface px-3 py-2 sm:px-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <div className="flex min-w-0 flex-1 basis-64 items-center gap-2">
            <nav aria-label="Breadcrumb" className="shrink-0">
              <Link
                to="/sessions/$sessionId"
                params={{ sessionId }}
                className="flex h-8 items-center gap-0.5 rounded-md pr-2 text-ink-soft hover:bg-sunken hover:text-ink pointer-coarse:h-11"
                aria-label="Back to session"
              >
                <ChevronLeft className="size-4" aria-hidden />
                <span>Session</span>
              </Link>
            </nav>
            <h1 className="min-w-0 truncate text-base font-semibold">
              Trace
              {view && <span className="font-normal text-ink-soft"> · {titleOf(view.session)}</span>}
            </h1>
          </div>
          <div className="flex flex-wrap items-center gap-1">{actions}</div>
        </div>
        {facts && <div className="mt-1 flex flex-wrap gap-x-4 gap-y-1 text-[13px] text-ink-soft">{facts}</div>}
      </header>
      <div className="min-h-0 flex-1">{children}</div>
    </div>
  );
}

export function Totals({ trace, calls, length }: { trace: Trace; calls: ReadonlyMap<string, Call>; length: number }) {
  const llmCalls = [...calls.values()].filter((one) => one.kind === 'llm').length;
  return (
    <>
      <span>
        {counted(llmCalls, 'LLM call')}, {counted(calls.size - llmCalls, 'tool call')}
      </span>
      <span>{tokens(trace.usage.total_tokens)} tokens</span>
      <Cost usage={trace.usage} />
      {calls.size > 0 && <span>{duration(length)}</span>}
    </>
  );
}
