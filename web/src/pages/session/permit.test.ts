import { expect, test } from 'vitest';
import { permitToAsk, permitToCancel, permitToRerun } from './permit';

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
] as const)('cancelling a session with status %s, answering: %s, is %s', (status, answering, want) => {
  expect(permitToCancel({ ...writer, status, answering }).state).toBe(want);
});

test('a session is not cancelled twice', () => {
  expect(permitToCancel({ ...writer, status: 'in_progress', cancelAsked: true })).toEqual({
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
] as const)('asking a session with status %s is %s', (status, want) => {
  expect(permitToAsk({ ...writer, status }).state).toBe(want);
});

test('a question is refused while another one is answered', () => {
  expect(permitToAsk({ ...writer, status: 'completed', answering: true }).state).toBe('refused');
});

test('a read-only key gets the reason, but only for actions that apply', () => {
  const needsWrite = {
    state: 'refused',
    reason: 'Your access is read-only. Log in with the role responder, or with a key that has the write scope.',
  };
  expect(permitToCancel({ ...reader, status: 'in_progress' })).toEqual(needsWrite);
  expect(permitToAsk({ ...reader, status: 'completed' })).toEqual(needsWrite);
  expect(permitToRerun(reader)).toEqual(needsWrite);
  expect(permitToCancel({ ...reader, status: 'completed' }).state).toBe('absent');
});

test('nothing is refused before the scopes are loaded', () => {
  expect(permitToRerun({ scopes: undefined }).state).toBe('allowed');
});
