/** Filters with multiple values: status, outcome and handling. */
import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { HandlingIcon } from '@/handling/marks';
import { handlingStates, handlingWord } from '@/handling/words';
import { outcomes, outcomeWord } from '@/text/words';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { OutcomeIcon } from '@/ui/outcome';
import { Menu, MenuCheckboxItem, MenuContent, MenuTrigger } from '@/ui/overlay';
import { StatusIcon, statusLabel } from '@/ui/status';
import type { Change } from './filters';
import { type SessionsPageSearch, statuses } from './search';

export function ConclusionFilters({ search, change }: { search: SessionsPageSearch; change: Change }) {
  return (
    <>
      <ManyFilter
        what="status"
        many="statuses"
        values={statuses}
        chosen={search.status ?? []}
        word={statusLabel}
        icon={(status) => <StatusIcon status={status} className="animate-none" />}
        onChange={(status) => change({ status })}
      />
      <ManyFilter
        what="outcome"
        many="outcomes"
        values={outcomes}
        chosen={search.outcome ?? []}
        word={outcomeWord}
        icon={(outcome) => <OutcomeIcon outcome={outcome} />}
        onChange={(outcome) => change({ outcome })}
      />
      <ManyFilter
        what="handling"
        many="states"
        values={handlingStates}
        chosen={search.handling ?? []}
        word={handlingWord}
        icon={(state) => <HandlingIcon state={state} />}
        onChange={(handling) => change({ handling })}
      />
    </>
  );
}

/** Selects any number of values; selecting none means all. */
function ManyFilter<T extends string>(props: {
  what: 'status' | 'outcome' | 'handling';
  many: string;
  values: readonly T[];
  chosen: readonly T[];
  word: (value: T) => string;
  icon: (value: T) => ReactNode;
  onChange: (values: T[]) => void;
}) {
  const { what, many, values, chosen, word, icon, onChange } = props;
  const name =
    chosen.length === 0 ? `Any ${what}` : chosen.length < 3 ? chosen.map(word).join(', ') : `${chosen.length} ${many}`;
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          className={cn(
            'border-line-strong font-normal max-md:flex-1 max-md:basis-36 max-md:justify-between',
            chosen.length > 0 && 'font-medium',
          )}
          aria-label={`${what.charAt(0).toUpperCase()}${what.slice(1)}: ${name}`}
          data-testid={`filter-${what}`}
        >
          {name} <ChevronDown aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent align="start">
        {values.map((value) => (
          <MenuCheckboxItem
            key={value}
            checked={chosen.includes(value)}
            onCheckedChange={(checked) =>
              onChange(values.filter((other) => (other === value ? checked : chosen.includes(other))))
            }
            data-testid={`filter-${what}-${value}`}
          >
            <span aria-hidden>{icon(value)}</span>
            {word(value)}
          </MenuCheckboxItem>
        ))}
      </MenuContent>
    </Menu>
  );
}
