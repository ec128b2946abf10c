/** The effective configuration: the origins of its values, and the search. */
import type { Setting } from '@/api/types';
import { searchFor } from '@/text/words';
import type { Origin } from './search';

export const originLabels: Record<Origin, string> = {
  file: 'File',
  env: 'Environment',
  flag: 'Flag',
  'built-in': 'Built-in',
};

/** Returns the kind of an origin such as `built-in`, `env TARSY_X`, `flag --workers`, `tarsy.yaml:12`. */
export function originOf(origin: string): Origin {
  if (origin === 'built-in') return 'built-in';
  if (origin.startsWith('env ')) return 'env';
  if (origin.startsWith('flag ')) return 'flag';
  return 'file';
}

/** Returns the first segment of a path: `agents` for `agents.KubernetesAgent.description` and for `agents["a.b"]`. */
export function sectionOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}

export function countOrigins(settings: readonly Setting[]): Record<Origin, number> {
  const counts: Record<Origin, number> = { file: 0, env: 0, flag: 0, 'built-in': 0 };
  for (const setting of settings) counts[originOf(setting.origin)]++;
  return counts;
}

/** Returns the settings of the given origins whose path, value or origin contains every word of a text. */
export function findSettings(settings: readonly Setting[], text: string, shown: readonly Origin[]): Setting[] {
  const found = searchFor(text);
  return settings.filter(({ path, value, origin }) => shown.includes(originOf(origin)) && found(path, value, origin));
}

/** A line of the list: a section heading or a setting. */
export type SettingLine = { kind: 'section'; name: string; count: number } | { kind: 'setting'; setting: Setting };

/** Groups settings by section, keeping the order of first occurrence. */
export function linesOf(settings: readonly Setting[]): SettingLine[] {
  const sections = new Map<string, Setting[]>();
  for (const setting of settings) {
    const name = sectionOf(setting.path);
    const section = sections.get(name);
    if (section) section.push(setting);
    else sections.set(name, [setting]);
  }
  return [...sections].flatMap(([name, members]): SettingLine[] => [
    { kind: 'section', name, count: members.length },
    ...members.map((setting): SettingLine => ({ kind: 'setting', setting })),
  ]);
}
