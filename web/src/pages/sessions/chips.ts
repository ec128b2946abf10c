/** The chosen filters as chips, each with the change that removes it. */
import { severityLabel } from '@/alert/severity';
import { handlingWord, me } from '@/handling/words';
import { dateTime, shortId } from '@/text/format';
import { outcomeWord } from '@/text/words';
import type { Zone } from '@/text/zone';
import { statusLabel } from '@/ui/status';
import { joinLabels, splitLabels } from './labels';
import { rangeWords, type SessionsPageSearch } from './search';

interface Chip {
  /** Which filter it is; labels have a chip each. */
  kind: string;
  label: string;
  /** The full value, if the label has less. */
  title?: string;
  without: Partial<SessionsPageSearch>;
}

/** Facts of an alert and of its session that are compared as they are. */
const plain = {
  service: 'Service',
  namespace: 'Namespace',
  cluster: 'Cluster',
  team: 'Team',
  alert_type: 'Alert type',
  chain_id: 'Chain',
  author: 'Author',
  tag: 'Tag',
} as const;

/** Returns a chip for each chosen filter. The search text has its own field, and the order is no filter. */
export function chipsOf(search: SessionsPageSearch, inZone: Zone): Chip[] {
  const chips: Chip[] = [];
  const add = (kind: string, label: string, without: Partial<SessionsPageSearch>, title?: string) =>
    chips.push({ kind, label, without, title });
  if (search.status) add('status', `Status: ${search.status.map(statusLabel).join(', ')}`, { status: undefined });
  if (search.outcome) add('outcome', `Outcome: ${search.outcome.map(outcomeWord).join(', ')}`, { outcome: undefined });
  if (search.handling) {
    add('handling', `Handling: ${search.handling.map(handlingWord).join(', ')}`, { handling: undefined });
  }
  if (search.approvals) add('approvals', 'Needs approval', { approvals: undefined });
  if (search.severity) add('severity', `Severity: ${severityLabel(search.severity)}`, { severity: undefined });
  for (const key of Object.keys(plain) as (keyof typeof plain)[]) {
    if (search[key]) add(key, `${plain[key]}: ${search[key]}`, { [key]: undefined }, search[key]);
  }
  if (search.assignee) {
    add('assignee', `Assignee: ${search.assignee === me ? 'Me' : search.assignee}`, { assignee: undefined });
  }
  const labels = splitLabels(search.label);
  for (const label of labels) {
    add('label', label, { label: joinLabels(labels.filter((other) => other !== label)) }, label);
  }
  if (search.fingerprint) {
    const { fingerprint } = search;
    add('fingerprint', `Fingerprint: ${shortId(fingerprint)}`, { fingerprint: undefined }, fingerprint);
  }
  if (search.range) add('range', rangeWords[search.range], { range: undefined });
  if (search.after) add('after', `Created since ${dateTime(search.after, inZone)}`, { after: undefined });
  if (search.before) add('before', `Created before ${dateTime(search.before, inZone)}`, { before: undefined });
  return chips;
}
