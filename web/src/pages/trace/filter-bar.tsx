/**
 * The filter of the trace. Its buttons show the icon and colour of each kind, and so are the legend of the waterfall.
 */
import { CircleX, X } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { SearchBox } from '@/ui/search-box';
import type { Counts } from './filter';
import { looks } from './kinds';
import { isFiltered, type Kind, kinds, type TraceFilter } from './search';

/** Adds a kind to the filter, or removes it. Without any, all kinds are shown. */
export function toggleKind(filter: TraceFilter, kind: Kind): TraceFilter {
  const before = filter.kind ?? [];
  const after = before.includes(kind) ? before.filter((one) => one !== kind) : [...before, kind];
  return { ...filter, kind: after.length > 0 ? after : undefined };
}

export function FilterBar({
  filter,
  counts,
  field,
  onChange,
}: {
  filter: TraceFilter;
  counts: Counts;
  field: RefObject<HTMLInputElement | null>;
  onChange: (filter: TraceFilter) => void;
}) {
  const shown = kinds.filter((kind) => counts.kinds[kind] > 0 || filter.kind?.includes(kind) || kind !== 'gap');
  return (
    <search
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-surface px-3 py-2 sm:px-4"
      aria-label="Filter calls"
      data-testid="trace-filter"
    >
      <SearchBox
        className="max-w-full sm:w-64"
        label="Search calls"
        placeholder="Tool, argument, model, number…"
        value={filter.search ?? ''}
        field={field}
        onChange={(text) => onChange({ ...filter, search: text === '' ? undefined : text })}
        data-testid="trace-search"
      />
      <fieldset className="flex min-w-0 flex-wrap items-center gap-1">
        <legend className="sr-only">Kind of row</legend>
        {shown.map((kind) => {
          const { plural, icon: Icon, text, bar } = looks[kind];
          return (
            <Chip
              key={kind}
              pressed={filter.kind?.includes(kind) ?? false}
              count={counts.kinds[kind]}
              onClick={() => onChange(toggleKind(filter, kind))}
              testId={`kind-${kind}`}
            >
              <span className={cn('h-3 w-3 rounded-sm', bar)} aria-hidden />
              <Icon className={text} aria-hidden />
              {plural}
            </Chip>
          );
        })}
        <Chip
          pressed={filter.failed ?? false}
          count={counts.failed}
          onClick={() => onChange({ ...filter, failed: filter.failed ? undefined : true })}
          testId="only-failed"
        >
          <span className="h-3 w-3 rounded-sm bg-bad" aria-hidden />
          <CircleX className="text-bad" aria-hidden />
          Failed
        </Chip>
      </fieldset>
      {isFiltered(filter) && (
        <div className="flex items-center gap-2">
          <span className="text-[13px] text-ink-soft" role="status" data-testid="trace-matches">
            {counts.fitting} of {counts.all} rows
          </span>
          <Button size="sm" variant="ghost" onClick={() => onChange({})}>
            <X aria-hidden /> Clear filters
          </Button>
        </div>
      )}
    </search>
  );
}

function Chip({
  pressed,
  count,
  onClick,
  testId,
  children,
}: {
  pressed: boolean;
  count: number;
  onClick: () => void;
  testId: string;
  children: ReactNode;
}) {
  return (
    <Button
      size="sm"
      variant="ghost"
      aria-pressed={pressed}
      className={cn('border border-line', pressed && 'border-line-strong bg-idle-soft text-ink')}
      onClick={onClick}
      data-testid={testId}
    >
      {children}
      <span className="text-ink-faint tabular-nums">{count}</span>
    </Button>
  );
}
