/** The filters of the board within its project. Every choice is part of the page's address. */
import { useQuery } from '@tanstack/react-query';
import { SlidersHorizontal, X } from 'lucide-react';
import { type RefObject, useId, useState } from 'react';
import * as notes from '@/api/notes';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Select } from '@/ui/input';
import { SearchBox } from '@/ui/search-box';
import { typeNames, types } from './labels';
import { type BoardPageSearch, isFiltered, spans } from './search';

const spanLabels = { overdue: 'Overdue', today: 'Due today', week: 'Due within 7 days' };

export function Filters({
  search,
  owners,
  change,
  clear,
  field,
}: {
  search: BoardPageSearch;
  /** Owners of the visible cards, as choices. */
  owners: readonly string[];
  change: (part: Partial<BoardPageSearch>) => void;
  clear: () => void;
  field: RefObject<HTMLInputElement | null>;
}) {
  const [open, setOpen] = useState(false);
  const panel = useId();
  const { data } = useQuery(notes.tags());
  const withChosen = (values: readonly string[], chosen: string | undefined) =>
    chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
  const select = 'w-auto max-w-48 max-md:max-w-none max-md:flex-1 max-md:basis-36';
  return (
    <search className="flex flex-wrap items-center gap-2" aria-label="Filters">
      <SearchBox
        className="w-auto min-w-40 flex-1 md:max-w-xs"
        label="Search the board"
        placeholder="Search"
        shortcut="/"
        field={field}
        value={search.q ?? ''}
        onChange={(q) => change({ q: q.trim() === '' ? undefined : q })}
        data-testid="board-search"
      />
      <Button className="md:hidden" aria-expanded={open} aria-controls={panel} onClick={() => setOpen(!open)}>
        <SlidersHorizontal aria-hidden /> Filters
      </Button>
      <div
        id={panel}
        className={cn('flex w-full flex-wrap items-center gap-2 md:contents', !open && 'max-md:hidden')}
        data-palette="folded"
      >
        <Select
          className={select}
          aria-label="Type"
          value={search.type ?? 'task'}
          onChange={(event) => {
            const type = ([...typeNames, 'all'] as const).find((name) => name === event.target.value);
            change({ type: type === 'task' ? undefined : type });
          }}
          data-testid="board-type"
        >
          {typeNames.map((name) => (
            <option key={name} value={name}>
              {types[name].many}
            </option>
          ))}
          <option value="all">All types</option>
        </Select>
        <Select
          className={select}
          aria-label="Owner"
          value={search.owner ?? ''}
          onChange={(event) => change({ owner: event.target.value || undefined })}
          data-testid="board-owner"
        >
          <option value="">Any owner</option>
          {withChosen(owners, search.owner).map((owner) => (
            <option key={owner} value={owner}>
              {owner}
            </option>
          ))}
        </Select>
        <Select
          className={select}
          aria-label="Tag"
          value={search.tag ?? ''}
          onChange={(event) => change({ tag: event.target.value || undefined })}
          data-testid="board-tag"
        >
          <option value="">Any tag</option>
          {withChosen(data?.tags.map((tag) => tag.name) ?? [], search.tag).map((tag) => (
            <option key={tag} value={tag}>
              {tag}
            </option>
          ))}
        </Select>
        <Select
          className={select}
          aria-label="Due"
          value={search.due ?? ''}
          onChange={(event) => change({ due: spans.find((span) => span === event.target.value) })}
          data-testid="board-due"
        >
          <option value="">Any due date</option>
          {spans.map((span) => (
            <option key={span} value={span}>
              {spanLabels[span]}
            </option>
          ))}
        </Select>
      </div>
      {isFiltered(search) && (
        <Button variant="ghost" onClick={clear} data-testid="board-clear">
          <X aria-hidden /> Clear filters
        </Button>
      )}
    </search>
  );
}
