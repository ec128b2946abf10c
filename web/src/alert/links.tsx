/** Links about an alert, as given by its sender. */
import type { AlertLink } from '@/api/types';
import { SafeLink } from '@/text/link';

const kinds: Record<AlertLink['kind'], string> = {
  generator: 'Source',
  dashboard: 'Dashboard',
  panel: 'Panel',
  runbook: 'Runbook',
  silence: 'Silence at sender',
  incident: 'Incident',
};

/** Names each link; the second and later ones of a kind are numbered. */
export function namedLinks(links: readonly AlertLink[]): { name: string; url: string }[] {
  const seen = new Map<string, number>();
  return links.map(({ kind, url }) => {
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    return { name: count === 1 ? kinds[kind] : `${kinds[kind]} ${count}`, url };
  });
}

export function AlertLinks({ links }: { links: readonly AlertLink[] }) {
  if (links.length === 0) return null;
  return (
    <ul
      className="flex flex-wrap items-center gap-x-3 gap-y-1"
      aria-label="Pages about the alert"
      data-testid="alert-links"
    >
      {namedLinks(links).map(({ name, url }) => (
        <li key={name}>
          <SafeLink href={url}>{name}</SafeLink>
        </li>
      ))}
    </ul>
  );
}
