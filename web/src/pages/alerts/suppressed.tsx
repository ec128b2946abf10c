/** All alerts that were counted, grouped or silenced instead of investigated, with the reason. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { BellOff, FilterX, X } from 'lucide-react';
import { useRef } from 'react';
import { severities } from '@/alert/severities';
import { severityLabel } from '@/alert/severity';
import { SuppressedRow } from '@/alert/suppressed-row';
import * as alerts from '@/api/alerts';
import type { SuppressedAlert } from '@/api/types';
import { useShortcuts } from '@/app/shortcuts';
import { shortId } from '@/text/format';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Continuation } from '@/ui/continuation';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { SearchBox } from '@/ui/search-box';
import { reasonLooks } from './reasons';
import { type AlertsPageSearch, filterOf, isFiltered, reasons } from './search';

const route = getRouteApi('/shell/alerts');

export function SuppressedTab() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useInfiniteQuery({ ...alerts.suppressed(filterOf(search)), placeholderData: keepPreviousData });
  const rows = found.data?.pages.flatMap((page) => page.alerts) ?? [];
  const change = (part: Partial<AlertsPageSearch>) =>
    void navigate({ search: (last) => ({ ...last, ...part }), replace: 'q' in part, resetScroll: false });
  const clear = () => void navigate({ search: {} });
  return (
    <div className="space-y-3">
      <Filters search={search} change={change} clear={clear} />
      {found.isPending ? (
        <Loading what="the suppressed alerts" rows={6} />
      ) : found.data === undefined ? (
        <ProblemPanel error={found.error} retry={() => void found.refetch()} />
      ) : rows.length === 0 ? (
        <Nothing filtered={isFiltered(search)} clear={clear} />
      ) : (
        <>
          <ul
            className="divide-y divide-line rounded-lg border border-line bg-surface"
            aria-label="Suppressed alerts"
            data-testid="suppressed-list"
          >
            {rows.map((alert) => (
              <SuppressedRow key={alert.id} alert={alert}>
                <Why alert={alert} />
              </SuppressedRow>
            ))}
          </ul>
          <Continuation found={found} shown={rows.length} what="alerts" />
        </>
      )}
    </div>
  );
}

/** The reason for the suppression, with a link to the session or silence behind it. */
function Why({ alert }: { alert: SuppressedAlert }) {
  const known = reasons.find((reason) => reason === alert.reason);
  const look = known && reasonLooks[known];
  const link = 'text-accent underline underline-offset-2';
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px] text-ink-soft">
      <Badge tone="idle" icon={look?.icon}>
        {look?.label ?? alert.reason}
      </Badge>
      <span>{look?.sentence}</span>
      {alert.session_id && (
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: alert.session_id }}
          className={link}
          data-testid="counting-session"
        >
          Session {shortId(alert.session_id)}
        </Link>
      )}
      {alert.reason === 'silence' && alert.silence && (
        <Link
          to="/alerts"
          search={{ tab: 'silences', all: true, silence: alert.silence }}
          className={link}
          data-testid="silence-link"
        >
          Silence {shortId(alert.silence)}
        </Link>
      )}
      {alert.reason === 'maintenance' && alert.silence && <span className="text-ink">{alert.silence}</span>}
    </p>
  );
}

function Filters({
  search,
  change,
  clear,
}: {
  search: AlertsPageSearch;
  change: (part: Partial<AlertsPageSearch>) => void;
  clear: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', label: 'Search suppressed alerts', group: 'Alerts', run: () => field.current?.focus() }]);
  return (
    <search className="flex flex-wrap items-center gap-2" aria-label="Filters">
      <SearchBox
        className="w-auto min-w-40 flex-1 md:max-w-sm"
        label="Search titles"
        shortcut="/"
        field={field}
        value={search.q ?? ''}
        onChange={(q) => change({ q: q.trim() === '' ? undefined : q })}
        data-testid="suppressed-search"
      />
      <Select
        className="w-auto max-md:flex-1"
        aria-label="Reason"
        value={search.reason ?? ''}
        onChange={(event) => change({ reason: reasons.find((reason) => reason === event.target.value) })}
        data-testid="suppressed-reason"
      >
        <option value="">Any reason</option>
        {reasons.map((reason) => (
          <option key={reason} value={reason}>
            {reasonLooks[reason].label}
          </option>
        ))}
      </Select>
      <Select
        className="w-auto max-md:flex-1"
        aria-label="Severity"
        value={search.severity ?? ''}
        onChange={(event) => change({ severity: severities.find((severity) => severity === event.target.value) })}
        data-testid="suppressed-severity"
      >
        <option value="">Any severity</option>
        {severities.map((severity) => (
          <option key={severity} value={severity}>
            {severityLabel(severity)}
          </option>
        ))}
      </Select>
      {search.session && (
        <Button onClick={() => change({ session: undefined })} aria-label="Show alerts of all sessions">
          Session {shortId(search.session)} <X aria-hidden />
        </Button>
      )}
      {isFiltered(search) && (
        <Button variant="ghost" onClick={clear} data-testid="suppressed-clear">
          <X aria-hidden /> Clear filters
        </Button>
      )}
    </search>
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) {
    return (
      <EmptyState title={<h2>No suppressed alerts match these filters</h2>} icon={<FilterX aria-hidden />}>
        <Button className="mt-3" onClick={clear}>
          Clear filters
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={<h2>No suppressed alerts</h2>} icon={<BellOff aria-hidden />}>
      <p>
        Alerts that repeat, belong to a storm, are silenced or fall into a maintenance window are listed here with the
        reason. You can investigate each of them anyway.
      </p>
    </EmptyState>
  );
}
