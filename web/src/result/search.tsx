/** The search within a result: a field behind a button, the number of matches, and buttons to step through them. */
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '@/ui/button';
import { longestSearch, type Matches } from './find';

export function ResultSearch({
  typed,
  onType,
  matches,
  current,
  onStep,
}: {
  /** Undefined while the field is closed. */
  typed: string | undefined;
  onType: (typed: string | undefined) => void;
  matches: Matches;
  current: number;
  onStep: (by: number) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const open = typed !== undefined;
  useEffect(() => {
    if (open) field.current?.focus();
  }, [open]);
  if (typed === undefined) {
    return (
      <Button variant="ghost" size="icon" aria-label="Search in result" title="Search" onClick={() => onType('')}>
        <Search aria-hidden />
      </Button>
    );
  }
  const count = matches.list.length;
  const total = `${count.toLocaleString()}${matches.more ? '+' : ''}`;
  return (
    <search className="flex min-w-0 flex-[1_1_14rem] items-center gap-1">
      <input
        ref={field}
        type="search"
        aria-label="Search in result"
        placeholder="Search in result"
        maxLength={longestSearch}
        value={typed}
        data-own-escape
        onChange={(event) => onType(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') onType(undefined);
        }}
        className="h-8 w-full max-w-56 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2 text-xs text-ink placeholder:text-ink-faint pointer-coarse:h-11 [&::-webkit-search-cancel-button]:hidden"
      />
      <span role="status" data-testid="result-matches" className="text-xs whitespace-nowrap text-ink-soft tabular-nums">
        {typed === '' ? '' : count === 0 ? 'No matches' : `${(current + 1).toLocaleString()} of ${total}`}
      </span>
      <span className="flex shrink-0">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Previous occurrence"
          disabled={count === 0}
          onClick={() => onStep(-1)}
        >
          <ChevronUp aria-hidden />
        </Button>
        <Button
          variant="ghost"
          size="icon"
          aria-label="Next occurrence"
          disabled={count === 0}
          onClick={() => onStep(1)}
        >
          <ChevronDown aria-hidden />
        </Button>
        <Button variant="ghost" size="icon" aria-label="Close search" onClick={() => onType(undefined)}>
          <X aria-hidden />
        </Button>
      </span>
    </search>
  );
}
