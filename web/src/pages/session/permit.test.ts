import { expect, test } from 'vitest';
import { mayAsk, mayCancel, mayRerun } from './permit';

const writer = { scopes: ['read' as const, 'write' as const], answering: false, cancelAsked: false };
const reader = { ...writer, scopes: ['read' as const] };

test.each([
  ['pending', false, 'allowed'],
  ['in_progress', false, 'allowed'],
  ['cancelling', false, 'refused'],
  ['completed', false, 'absent'],
  ['failed', false, 'absent'],
  ['cancelled', false, 'absent'],
  ['timed_out', false, 'absent'],
  ['completed', true, 'allowed'],
  ['failed', true, 'allowed'],
] as const)('cancelling a session that is %s, answering: %s, is %s', (status, answering, want) => {
  expect(mayCancel({ ...writer, status, answering }).state).toBe(want);
});

test('a session is not cancelled twice', () => {
  expect(mayCancel({ ...writer, status: 'in_progress', cancelAsked: true })).toEqual({
    state: 'refused',
    reason: 'Already being cancelled.',
  });
});

test.each([
  ['pending', 'refused'],
  ['in_progress', 'refused'],
  ['cancelling', 'refused'],
  ['completed', 'allowed'],
  ['failed', 'allowed'],
  ['timed_out', 'allowed'],
  ['cancelled', 'refused'],
] as const)('asking a session that is %s is %s', (status, want) => {
  expect(mayAsk({ ...writer, status }).state).toBe(want);
});

test('one question at a time', () => {
  expect(mayAsk({ ...writer, status: 'completed', answering: true }).state).toBe('refused');
});

test('a read-only key is refused with a reason, and only where there is something to do', () => {
  const needsWrite = {
    state: 'refused',
    reason: 'Your access is read-only. Log in with the role responder, or with a key that has the write scope.',
  };
  expect(mayCancel({ ...reader, status: 'in_progress' })).toEqual(needsWrite);
  expect(mayAsk({ ...reader, status: 'completed' })).toEqual(needsWrite);
  expect(mayRerun(reader)).toEqual(needsWrite);
  expect(mayCancel({ ...reader, status: 'completed' }).state).toBe('absent');
});

test('nothing is refused before the scopes are known', () => {
  expect(mayRerun({ scopes: undefined }).state).toBe('allowed');
});
