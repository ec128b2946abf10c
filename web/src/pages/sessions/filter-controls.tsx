/** The controls of the filter panel. */
import { useQuery } from '@tanstack/react-query';
import { Hourglass } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type KnownSeverity, severities } from '@/alert/severities';
import { severityLabel } from '@/alert/severity';
import * as queries from '@/api/queries';
import { me } from '@/handling/words';
import { useZone, zoneName } from '@/text/zone';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Input, Select } from '@/ui/input';
import { fromField, toField } from '@/ui/time-field';
import type { Change } from './filters';
import { addLabel, joinLabels, readLabel, splitLabels } from './labels';
import { ConclusionFilters } from './many-filter';
import { type Range, rangeWords, type SessionsPageSearch } from './search';

export function FilterControls({ search, change }: { search: SessionsPageSearch; change: Change }) {
  return (
    <>
      <ConclusionFilters search={search} change={change} />
      <Button
        className="aria-pressed:border-accent aria-pressed:bg-accent-soft"
        aria-pressed={search.approvals === 'waiting'}
        onClick={() => change({ approvals: search.approvals === 'waiting' ? undefined : 'waiting' })}
        data-palette="none"
        data-testid="filter-approvals"
      >
        <Hourglass aria-hidden /> Needs approval
      </Button>
      <SeverityFilter chosen={search.severity} change={change} />
      <ValueFilters search={search} change={change} />
      <LabelFilter labels={splitLabels(search.label)} change={change} />
      <TimeFilter search={search} change={change} />
    </>
  );
}

function SeverityFilter({ chosen, change }: { chosen: KnownSeverity | undefined; change: Change }) {
  return (
    <Choice
      label="Severity"
      value={chosen ?? ''}
      onChange={(value) => change({ severity: severities.find((known) => known === value) })}
      testId="filter-severity"
    >
      <option value="">Any severity</option>
      {severities.map((severity) => (
        <option key={severity} value={severity}>
          {severityLabel(severity)}
        </option>
      ))}
    </Choice>
  );
}

/**
 * The values of existing sessions. A value in the address that no session has is listed too, so that it is visible.
 * Facts without values are not offered.
 */
function ValueFilters({ search, change }: { search: SessionsPageSearch; change: Change }) {
  const { data } = useQuery(queries.filterOptions());
  const filters = [
    { key: 'service', what: 'service', values: data?.services, fact: true },
    { key: 'namespace', what: 'namespace', values: data?.namespaces, fact: true },
    { key: 'cluster', what: 'cluster', values: data?.clusters, fact: true },
    { key: 'team', what: 'team', values: data?.teams, fact: true },
    { key: 'alert_type', what: 'alert type', values: data?.alert_types, fact: false },
    { key: 'chain_id', what: 'chain', values: data?.chain_ids, fact: false },
    { key: 'author', what: 'author', values: data?.authors, fact: false },
    { key: 'assignee', what: 'assignee', values: data && [me, ...data.assignees], fact: false },
    { key: 'tag', what: 'tag', values: data?.tags, fact: true },
  ] as const;
  return filters.map(({ key, what, values: known, fact }) => {
    const values = (known ?? []).filter((value) => value !== '');
    const chosen = search[key];
    const all = chosen === undefined || values.includes(chosen) ? values : [chosen, ...values];
    if (fact && all.length === 0) return null;
    return (
      <Choice
        key={key}
        label={what.charAt(0).toUpperCase() + what.slice(1)}
        value={chosen ?? ''}
        onChange={(value) => change({ [key]: value || undefined })}
        testId={`filter-${key}`}
      >
        <option value="">Any {what}</option>
        {all.map((value) => (
          <option key={value} value={value}>
            {key === 'assignee' && value === me ? 'Me' : value}
          </option>
        ))}
      </Choice>
    );
  });
}

/** Any number of alert labels; Enter adds one, and each has a chip. */
function LabelFilter({ labels, change }: { labels: readonly string[]; change: Change }) {
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState(false);
  const add = () => {
    const label = readLabel(typed);
    setWrong(label === undefined && typed.trim() !== '');
    if (label === undefined) return;
    setTyped('');
    if (!labels.includes(label)) change({ label: joinLabels(addLabel(labels, label)) });
  };
  return (
    <form
      className="max-md:flex-1 max-md:basis-36"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <Input
        className="w-40 max-md:w-full"
        aria-label="Label, as name=value"
        aria-invalid={wrong || undefined}
        title={wrong ? 'Type a label as name=value, then Enter' : undefined}
        placeholder="Label: name=value"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setWrong(false);
        }}
        data-testid="filter-label"
      />
      {wrong && (
        <p role="alert" className="text-xs text-bad">
          Type name=value, then Enter
        </p>
      )}
    </form>
  );
}

function TimeFilter({ search, change }: { search: SessionsPageSearch; change: Change }) {
  const zone = useZone();
  const dated = search.after !== undefined || search.before !== undefined;
  const [custom, setCustom] = useState(dated);
  const shown = search.range ?? (custom || dated ? 'custom' : '');
  const choose = (value: string) => {
    setCustom(value === 'custom');
    if (value === 'custom') return;
    change({ range: value === '' ? undefined : (value as Range), after: undefined, before: undefined });
  };
  return (
    <>
      <Choice label="Time" value={shown} onChange={choose} testId="filter-range">
        <option value="">Any time</option>
        {Object.entries(rangeWords).map(([range, word]) => (
          <option key={range} value={range}>
            {word}
          </option>
        ))}
        <option value="custom">Custom range</option>
      </Choice>
      {shown === 'custom' &&
        (['after', 'before'] as const).map((end) => (
          <Input
            key={end}
            type="datetime-local"
            className="w-auto max-md:flex-1"
            aria-label={`${end === 'after' ? 'Created at or after' : 'Created before'} (${zoneName(zone)})`}
            title={`In ${zoneName(zone)}`}
            value={toField(search[end], zone)}
            onChange={(event) => change({ range: undefined, [end]: fromField(event.target.value, zone) })}
            data-testid={`filter-${end}`}
          />
        ))}
    </>
  );
}

function Choice(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  testId: string;
  children: ReactNode;
}) {
  return (
    <Select
      className={cn(
        'w-auto max-w-40 pr-2 max-md:max-w-none max-md:min-w-0 max-md:flex-1 max-md:basis-36',
        props.value !== '' && 'font-medium',
      )}
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
      data-testid={props.testId}
    >
      {props.children}
    </Select>
  );
}
