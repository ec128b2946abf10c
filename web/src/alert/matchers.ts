/** The matchers of a silence as text, one per line. */
import type { SessionDetail } from '@/api/types';

type Labelled = Pick<SessionDetail, 'labels' | 'alert_type' | 'title' | 'service' | 'namespace' | 'cluster'>;

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** Returns a matcher for exactly this value. Quotes the name too if it is not a plain word. */
export function exactly(name: string, value: string): string {
  return `${/[\s=!~"'`{},\\]/.test(name) ? quoted(name) : name}=${quoted(value)}`;
}

/**
 * Labels that differ between replicas: the next similar alert has other values, so a silence on them would match
 * nothing.
 */
const transientLabel = /^(pod|pod_?name|pod_?ip|pod_?uid|instance|replica|container_?id|uid|id|host_?ip)$/i;

/** Returns matchers for this alert and similar ones: its lasting labels or, if it has no labels, its main fields. */
export function matchersOf(alert: Labelled): string[] {
  const all = Object.entries(alert.labels).toSorted(([a], [b]) => a.localeCompare(b));
  const lasting = all.filter(([name]) => !transientLabel.test(name));
  const labels = lasting.length > 0 ? lasting : all;
  if (labels.length > 0) return labels.map(([name, value]) => exactly(name, value));
  const { alert_type, title, service, namespace, cluster } = alert;
  return Object.entries({ alert_type, title, service, namespace, cluster })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => exactly(name, value));
}

/** Returns the non-empty lines of the field. */
export function readMatchers(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
