import { describe, expect, test } from 'vitest';
import { event } from '../fixture';
import { bandOf, foldedHeight, inBand, laneWidth, openHeight, parallelHeight } from './height';

describe('lanes', () => {
  test('share the width, down to a minimum, with at most six at once', () => {
    expect(laneWidth(1200, 3)).toBe(400);
    expect(laneWidth(1200, 8)).toBe(270);
    expect(laneWidth(2400, 8)).toBe(400);
  });

  test('have an estimated height limited by the window', () => {
    const lanes = [{ rows: [] }, { rows: [] }] as unknown as Parameters<typeof parallelHeight>[0];
    const heights = [5000, 100];
    let at = 0;
    const high = parallelHeight(lanes, () => heights[at++] ?? 0, 1000);
    expect(high).toBeGreaterThan(600);
    expect(high).toBeLessThan(700);
  });

  test('render the visible band with a margin', () => {
    const band = bandOf(1000, 1300, 400);
    expect(band.top).toBeLessThanOrEqual(300);
    expect(band.bottom).toBeGreaterThanOrEqual(700);
    expect(band.bottom - band.top).toBeLessThanOrEqual(400 + 2 * 216);
    expect(inBand(band, 300, 336)).toBe(true);
    expect(inBand(band, 2000, 2036)).toBe(false);
    expect(bandOf(1000, 1301, 400)).toEqual(bandOf(1000, 1310, 400));
  });
});

test('an open row is estimated taller than a collapsed one, up to a limit', () => {
  for (const type of ['llm_response', 'llm_tool_call', 'error', 'code_execution', 'of_a_later_version']) {
    expect(openHeight(event('a', type), 400)).toBeGreaterThan(foldedHeight);
  }
  expect(openHeight(event('a', 'llm_tool_call', { content_length: 10_000_000 }), 400)).toBeLessThan(1000);
});
