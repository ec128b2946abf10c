import { expect, it } from 'vitest';
import type { SessionStatus } from '@/api/types';
import { progressOf } from './progress';

const at = (status: SessionStatus, current: number, count: number) =>
  progressOf({ status, current_stage_index: current, stage_count: count });

it.each([
  [at('pending', 0, 3), { done: 0, total: 3, tone: 'idle', label: 'Queued, 3 stages' }],
  [at('in_progress', 0, 3), { done: 0, total: 3, tone: 'running', label: 'Starting' }],
  [at('in_progress', 2, 3), { done: 1, total: 3, tone: 'running', label: 'In stage 2 of 3' }],
  [at('cancelling', 2, 3), { done: 1, total: 3, tone: 'running', label: 'Cancelling in stage 2 of 3' }],
  [at('completed', 3, 3), { done: 3, total: 3, tone: 'good', label: 'All 3 stages done' }],
  [at('failed', 2, 3), { done: 1, total: 3, tone: 'bad', label: 'Failed in stage 2 of 3' }],
  [at('failed', 0, 3), { done: 0, total: 3, tone: 'bad', label: 'Failed before the first stage' }],
  [at('timed_out', 3, 3), { done: 2, total: 3, tone: 'warn', label: 'Timed out in stage 3 of 3' }],
  [at('cancelled', 1, 3), { done: 0, total: 3, tone: 'idle', label: 'Cancelled in stage 1 of 3' }],
  // Sessions of old releases have no stage count.
  [at('in_progress', 1, 0), { done: 0, total: 1, tone: 'running', label: 'In stage 1 of 1' }],
])('%o', (shown, wanted) => {
  expect(shown).toEqual(wanted);
});
