/**
 * The light and dark themes. The choice is stored as tarsy.theme, which public/assets/theme-1.js reads before the first
 * paint.
 */
import { Stored, useStored } from '@/ui/stored';

export const themeChoices = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof themeChoices)[number];

const choice = new Stored<ThemeChoice>('tarsy.theme', themeChoices);

export function useTheme(): [ThemeChoice, (chosen: ThemeChoice) => void] {
  return [useStored(choice), chooseTheme];
}

export function chooseTheme(chosen: ThemeChoice): void {
  choice.set(chosen);
}

export function themeOf(chosen: ThemeChoice, systemIsDark: boolean): 'light' | 'dark' {
  if (chosen === 'system') return systemIsDark ? 'dark' : 'light';
  return chosen;
}

/** Applies the chosen theme when this tab, another tab or the system changes it. Returns a function that stops it. */
export function followTheme(): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    document.documentElement.dataset.theme = themeOf(choice.get(), system.matches);
  };
  apply();
  const stop = choice.subscribe(apply);
  system.addEventListener('change', apply);
  return () => {
    stop();
    system.removeEventListener('change', apply);
  };
}
