/** Matchers of a silence, as people write them: one in a line. */
import type { SessionDetail } from '@/api/types';

type Labelled = Pick<SessionDetail, 'labels' | 'alert_type' | 'title' | 'service' | 'namespace' | 'cluster'>;

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** A matcher for exactly this value. A name that is no plain word is quoted too. */
export function exactly(name: string, value: string): string {
  return `${/[\s=!~"'`{},\\]/.test(name) ? quoted(name) : name}=${quoted(value)}`;
}

/** Labels of one of many equal things: the next alert about the same has other values, so a silence with them silences nothing. */
const passing = /^(pod|pod_?name|pod_?ip|pod_?uid|instance|replica|container_?id|uid|id|host_?ip)$/i;

/** Matchers for this alert and its like: its labels that last, or what it is about if it has none. */
export function matchersOf(alert: Labelled): string[] {
  const all = Object.entries(alert.labels).toSorted(([a], [b]) => a.localeCompare(b));
  const lasting = all.filter(([name]) => !passing.test(name));
  const labels = lasting.length > 0 ? lasting : all;
  if (labels.length > 0) return labels.map(([name, value]) => exactly(name, value));
  const { alert_type, title, service, namespace, cluster } = alert;
  return Object.entries({ alert_type, title, service, namespace, cluster })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => exactly(name, value));
}

/** The lines of the field that are not empty. */
export function readMatchers(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
