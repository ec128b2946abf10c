/** The filters of the list: search, views, chips, and the panel. Every choice is part of the page's address. */
import { Link } from '@tanstack/react-router';
import { SlidersHorizontal, X } from 'lucide-react';
import { lazy, type RefObject, Suspense, useId, useState } from 'react';
import { explainMissing } from '@/app/failure';
import { useZone } from '@/text/zone';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { useMedia } from '@/ui/media';
import { SearchBox } from '@/ui/search-box';
import { Segmented } from '@/ui/segmented';
import { chipsOf } from './chips';
import { isFiltered, type SessionsPageSearch } from './search';
import { isView, views } from './views';

// Folded until it is opened, and loaded after the list.
const FilterControls = lazy(() =>
  import('./filter-controls').then((module) => ({ default: module.FilterControls }), explainMissing),
);

export type Change = (change: Partial<SessionsPageSearch>) => void;

interface Props {
  search: SessionsPageSearch;
  change: Change;
  clear: () => void;
  searchField: RefObject<HTMLInputElement | null>;
}

export function Filters({ search, change, clear, searchField }: Props) {
  const [open, setOpen] = useState(false);
  const panel = useId();
  const wide = useMedia('(min-width: 80rem)');
  const chips = chipsOf(search, useZone());
  const order = (
    <Segmented
      label="Order"
      value={search.order ?? 'attention'}
      options={[
        { value: 'attention', label: 'Attention first' },
        { value: 'newest', label: 'Newest first' },
      ]}
      onChange={(order) => change({ order: order === 'newest' ? 'newest' : undefined })}
      className="max-md:grow"
      data-testid="filter-order"
      data-palette="none"
    />
  );
  return (
    <search className="block space-y-2" aria-label="Filters">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          className="w-auto min-w-40 flex-1 md:max-w-sm"
          label="Search alerts and analyses"
          placeholder="Search sessions"
          shortcut="/"
          field={searchField}
          value={search.search ?? ''}
          onChange={(text) => change({ search: text.trim() === '' ? undefined : text })}
          data-testid="search"
        />
        <Button
          className="max-md:h-11"
          aria-expanded={open}
          aria-controls={panel}
          onClick={() => setOpen(!open)}
          data-testid="filter-toggle"
        >
          <SlidersHorizontal aria-hidden /> Filter{chips.length > 0 && ` (${chips.length})`}
        </Button>
        <Views search={search} />
        {wide && <div className="ml-auto">{order}</div>}
      </div>
      <div
        id={panel}
        className={cn(
          'flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface p-3',
          !open && 'hidden',
        )}
        data-palette="folded"
        data-testid="filter-panel"
      >
        <Suspense fallback={<span className="h-9 w-56" />}>
          <FilterControls search={search} change={change} />
        </Suspense>
        {!wide && order}
      </div>
      {isFiltered(search) && (
        <div className="flex flex-wrap items-center gap-2">
          {chips.length > 0 && (
            <ul className="contents" aria-label="Chosen filters">
              {chips.map((chip) => (
                <li key={chip.kind + chip.label} className="max-w-full min-w-0">
                  <Button
                    size="sm"
                    className="max-w-full min-w-0 shrink bg-accent-soft max-md:h-11"
                    aria-label={`Remove filter ${chip.label}`}
                    title={chip.title}
                    onClick={() => change(chip.without)}
                    data-testid={`filter-chip-${chip.kind}`}
                  >
                    <span className="truncate">{chip.label}</span> <X aria-hidden />
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <Button size="sm" variant="ghost" className="max-md:h-11" onClick={clear} data-testid="filter-clear">
            <X aria-hidden /> Clear filters
          </Button>
        </div>
      )}
    </search>
  );
}

/** Views are addresses: a link to one can be shared. Following the current one shows all sessions again. */
function Views({ search }: { search: SessionsPageSearch }) {
  return (
    <nav aria-label="Views" className="flex items-center gap-1 max-md:w-full max-md:overflow-x-auto">
      {views.map(({ label, filter }) => {
        const here = isView(search, filter);
        return (
          <Link
            key={label}
            to="/"
            search={{ ...(here ? {} : filter), order: search.order }}
            activeOptions={{ exact: true }}
            aria-current={here ? 'true' : undefined}
            className="flex h-8 shrink-0 items-center rounded-full border border-line px-3 text-sm text-ink-soft hover:text-ink aria-[current=true]:border-accent aria-[current=true]:bg-accent-soft aria-[current=true]:text-ink max-md:h-11"
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}
