import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { chooseTheme, followTheme, themeOf } from './theme';

/** The system's colour preference, which jsdom lacks. */
class System extends EventTarget {
  matches = false;
  set(dark: boolean) {
    this.matches = dark;
    this.dispatchEvent(new Event('change'));
  }
}

let system: System;
let stop: () => void;

beforeEach(() => {
  system = new System();
  vi.stubGlobal('matchMedia', () => system);
  localStorage.clear();
  chooseTheme('system');
  stop = followTheme();
});
afterEach(() => stop());

const shown = () => document.documentElement.dataset.theme;

it('follows the system theme unless one is chosen', () => {
  expect(shown()).toBe('light');
  system.set(true);
  expect(shown()).toBe('dark');
  chooseTheme('light');
  expect(shown()).toBe('light');
  system.set(false);
  system.set(true);
  expect(shown()).toBe('light');
  chooseTheme('system');
  expect(shown()).toBe('dark');
});

it('stores the choice where the script before the first paint reads it', () => {
  chooseTheme('dark');
  expect(localStorage.getItem('tarsy.theme')).toBe('dark');
  chooseTheme('system');
  expect(localStorage.getItem('tarsy.theme')).toBeNull();
});

it('follows a choice made in another tab', () => {
  localStorage.setItem('tarsy.theme', 'dark');
  window.dispatchEvent(new StorageEvent('storage', { key: 'tarsy.theme', newValue: 'dark' }));
  expect(shown()).toBe('dark');
});

it('applies the choice while the page is open if storage is forbidden', () => {
  const forbidden = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError');
  });
  chooseTheme('dark');
  expect(shown()).toBe('dark');
  forbidden.mockRestore();
});

it('ignores an unknown stored theme', () => {
  localStorage.setItem('tarsy.theme', 'sepia');
  system.set(true);
  expect(shown()).toBe('dark');
});

it.each([
  ['system', true, 'dark'],
  ['system', false, 'light'],
  ['dark', false, 'dark'],
  ['light', true, 'light'],
] as const)('%s with a dark system %s is %s', (chosen, dark, wanted) => {
  expect(themeOf(chosen, dark)).toBe(wanted);
});
