/** A row of the waterfall: its name, numbers and bar. */
import { ChevronRight } from 'lucide-react';
import { duration, tokens } from '@/text/format';
import { cn } from '@/ui/cn';
import { Cost } from '@/ui/cost';
import { StatusIcon } from '@/ui/status';
import { kindOf, type Shown } from './filter';
import { barOf, lengthOf, type Range } from './geometry';
import { KindIcon, looks } from './kinds';
import { isCall, isGroup, type Row } from './rows';

const indents = ['', 'pl-0', 'pl-4', 'pl-9'];

export function Name({ shown, narrow, now }: { shown: Shown; narrow: boolean; now: number }) {
  const { row, open } = shown;
  const call = isCall(row) ? row : undefined;
  return (
    <div className={cn('flex min-w-0 items-center gap-1.5', indents[row.level])}>
      {open !== undefined && (
        <ChevronRight
          className={cn('size-4 shrink-0 text-ink-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
      )}
      <KindIcon kind={kindOf(row)} />
      {row.status !== 'completed' && row.kind !== 'gap' && <StatusIcon status={row.status} />}
      {call?.number && (
        <span className="shrink-0 font-mono text-xs text-ink-faint tabular-nums" data-testid="call-number">
          {call.number}
        </span>
      )}
      <span
        className={cn(
          'truncate',
          row.level === 1 && 'font-semibold',
          // A tool's name is not shortened while something else can be.
          row.kind === 'mcp' ? 'max-w-[60%] shrink-0 font-mono text-xs' : 'min-w-0',
        )}
      >
        {row.label}
      </span>
      {call?.argument ? (
        <span
          className="min-w-0 flex-1 truncate font-mono text-xs text-ink-soft"
          title={call.argument}
          data-testid="call-argument"
        >
          {call.argument}
        </span>
      ) : (
        <span className="min-w-0 flex-1 truncate text-xs text-ink-faint">{row.hint}</span>
      )}
      {narrow && (
        <span className="shrink-0 text-xs text-ink-soft tabular-nums">
          {row.span && duration(lengthOf(row.span, now))}
          {row.usage && row.usage.cost_usd > 0 && (
            <>
              {' · '}
              <Cost usage={row.usage} />
            </>
          )}
        </span>
      )}
    </div>
  );
}

export function Numbers({ row, now }: { row: Row; now: number }) {
  return (
    <div className="grid grid-cols-[4rem_3rem_3.5rem] gap-1 text-right text-xs text-ink-soft tabular-nums">
      <span>{row.span && duration(lengthOf(row.span, now))}</span>
      <span>{row.usage && tokens(row.usage.total_tokens)}</span>
      <span className="truncate">{row.usage && <Cost usage={row.usage} />}</span>
    </div>
  );
}

/** The colours of statuses other than completed; the row also has an icon for each. */
const tones: Record<string, string> = {
  failed: 'bg-bad',
  timed_out: 'bg-warn',
  unknown: 'bg-warn',
  started: 'bg-running',
  active: 'bg-running',
};

/** The duration as a bar; the row also shows it as a number. */
export function Bar({ row, range, now, gaps }: { row: Row; range: Range; now: number; gaps: readonly Band[] }) {
  const bar = row.span && barOf(row.span, range, now);
  const look = looks[kindOf(row)].bar;
  return (
    <div className="relative h-full min-h-4 min-w-0" aria-hidden>
      {gaps.map((gap) => (
        <div
          key={gap.left}
          className="absolute inset-y-0 min-w-0.5 bg-warn-soft"
          data-testid="trace-gap-band"
          style={{ left: `${gap.left}%`, width: `${gap.width}%` }}
        />
      ))}
      {bar && (
        <div
          className={cn(
            'absolute top-1/2 min-w-0.5 -translate-y-1/2 rounded-sm',
            isGroup(row) ? 'h-1' : 'h-3',
            row.kind === 'gap' ? look : (tones[row.status] ?? look),
          )}
          style={{ left: `${Math.min(bar.left, 99.5)}%`, width: `${bar.width}%` }}
        />
      )}
    </div>
  );
}

/** The position of a gap, in percent of the width. */
export interface Band {
  left: number;
  width: number;
}
