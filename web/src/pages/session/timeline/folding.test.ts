import { describe, expect, test } from 'vitest';
import { event } from '../fixture';
import { Folding, isOpenByDefault } from './folding';

describe('isOpenByDefault', () => {
  test.each([
    ['what streams', event('a', 'llm_response', { status: 'streaming' }), true],
    ['what failed', event('a', 'llm_tool_call', { status: 'failed' }), true],
    ['what ran out of time', event('a', 'llm_response', { status: 'timed_out' }), true],
    ['an error', event('a', 'error'), true],
    ["a tool's own failure", event('a', 'llm_tool_call', { metadata: { is_error: true } }), true],
    ['a call whose outcome nobody knows', event('a', 'llm_tool_call', { metadata: { outcome: 'unknown' } }), true],
    ['a finished call', event('a', 'llm_tool_call', { metadata: { is_error: false } }), false],
    ['another provider', event('a', 'provider_fallback', { metadata: { code: 'overloaded' } }), false],
    ['what was cancelled', event('a', 'llm_response', { status: 'cancelled' }), false],
    ['an analysis', event('a', 'final_analysis'), false],
    ['nothing', undefined, false],
  ])('%s', (_, given, open) => {
    expect(isOpenByDefault(given)).toBe(open);
  });
});

describe('Folding', () => {
  const streaming = event('a', 'llm_response', { status: 'streaming' });
  const done = event('a', 'llm_response');

  test('the choice of a person overrides the default', () => {
    const folding = new Folding();
    folding.choose('a', false);
    expect(folding.isOpen('a', streaming)).toBe(false);
    folding.choose('a', true);
    expect(folding.isOpen('a', done)).toBe(true);
  });

  test('a finished event collapses while the reader is at the end', () => {
    const folding = new Folding();
    folding.changed('a', streaming, done, true);
    expect(folding.isOpen('a', done)).toBe(false);
  });

  test('a finished event stays open while the reader is elsewhere', () => {
    const folding = new Folding();
    folding.changed('a', streaming, done, false);
    expect(folding.isOpen('a', done)).toBe(true);
  });

  test('a row collapsed by a person stays collapsed when its event ends', () => {
    const folding = new Folding();
    folding.choose('a', false);
    folding.changed('a', streaming, done, false);
    expect(folding.isOpen('a', done)).toBe(false);
  });

  test('a row that was kept open can be collapsed', () => {
    const folding = new Folding();
    folding.changed('a', streaming, done, false);
    folding.choose('a', false);
    expect(folding.isOpen('a', done)).toBe(false);
  });

  test('a call stays open while its summary is streaming', () => {
    const call = event('a', 'llm_tool_call');
    expect(new Folding().isOpen('a', call, event('s', 'mcp_tool_summary', { status: 'streaming' }))).toBe(true);
    expect(new Folding().isOpen('a', call, event('s', 'mcp_tool_summary'))).toBe(false);
  });

  test('notifies changed rows, and lists about bulk changes', () => {
    const folding = new Folding();
    const calls: string[] = [];
    const stop = folding.subscribe('a', () => calls.push('a'));
    folding.subscribe('b', () => calls.push('b'));
    folding.subscribeMany(() => calls.push('many'));
    folding.choose('a', true);
    folding.choose('a', true);
    folding.chooseAll(['a', 'b'], true);
    stop();
    folding.choose('a', false);
    expect(calls).toEqual(['a', 'b', 'many']);
  });
});
