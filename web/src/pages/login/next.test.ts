import { expect, it } from 'vitest';
import { safeNext } from './next';

const origin = 'https://tarsy.example';

it.each([
  ['/', '/'],
  ['/sessions/1?event=2#x', '/sessions/1?event=2#x'],
  ['/?search=a%20b', '/?search=a%20b'],
])('%s is an address of the dashboard', (next, wanted) => {
  expect(safeNext(next, origin)).toBe(wanted);
});

it.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  '/.//evil.example',
  'javascript:alert(1)',
  '/login?next=/',
  '',
  7,
  undefined,
])('%s is not an address of the dashboard', (next) => {
  expect(safeNext(next, origin)).toBeUndefined();
});
