/** The state of the Alerts page in its address. */
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
  /** Defaults to suppressed. */
  tab?: AlertsTab;
  reason?: Reason;
  severity?: KnownSeverity;
  /** Only alerts counted by this session. */
  session?: string;
  q?: string;
  /** Includes ended silences. */
  all?: true;
  /** The selected silence. */
  silence?: string;
}

/** Reads the state from the page's address; unknown values are ignored. */
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

/** Reports whether any filter applies to the list of suppressed alerts. */
export function isFiltered(search: AlertsPageSearch): boolean {
  return Object.values(filterOf(search)).some((value) => value !== undefined);
}
