/** What the Alerts page shows, as its address carries it. */
import { type KnownSeverity, severities } from '@/alert/severities';
import type { SuppressedFilter } from '@/api/alerts';
import type { SuppressionReason } from '@/api/types';

export const tabs = ['suppressed', 'silences'] as const;
export type AlertsTab = (typeof tabs)[number];

export const reasons = [
  'duplicate',
  'storm',
  'silence',
  'maintenance',
  'resolved',
] as const satisfies readonly SuppressionReason[];
export type Reason = (typeof reasons)[number];

export interface AlertsPageSearch {
  /** Left out, suppressed. */
  tab?: AlertsTab;
  reason?: Reason;
  severity?: KnownSeverity;
  /** Alerts that this session counts. */
  session?: string;
  q?: string;
  /** Silences that are over too. */
  all?: true;
  /** The silence to look at. */
  silence?: string;
}

/** Reads the page's address; what it does not know it leaves out. */
export function readAlertsSearch(search: Record<string, unknown>): AlertsPageSearch {
  const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);
  return {
    tab: search.tab === 'silences' ? 'silences' : undefined,
    reason: reasons.find((reason) => reason === search.reason),
    severity: severities.find((severity) => severity === search.severity),
    session: text(search.session),
    q: text(search.q),
    all: search.all === 'true' || search.all === true || undefined,
    silence: text(search.silence),
  };
}

export function filterOf({ reason, severity, session, q }: AlertsPageSearch): SuppressedFilter {
  return { reason, severity, session_id: session, search: q?.trim() };
}

/** Whether anything narrows the list of suppressed alerts. */
export function isFiltered(search: AlertsPageSearch): boolean {
  return Object.values(filterOf(search)).some((value) => value !== undefined);
}
