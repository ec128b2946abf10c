/** The only ways to read the subject of an expectation. Biome rejects others in scenarios (no-raw-read.grit). */
import { expect } from 'vitest';

/** Expects a state that the page will reach: reads again until the expectation is met or times out. */
export function eventually<T>(look: () => T | Promise<T>, message?: string) {
  return expect.poll(look, { interval: 50, message });
}

/**
 * Reads once what must not have changed or appeared. Polling would not detect a wrong state, so first wait for a sign
 * that everything that could have changed it is over.
 */
export async function readOnce<T>(look: () => Promise<T>): Promise<T> {
  return look();
}

/** Returns a server response, read once: what the page reported as done must be stored already. */
export function stored<T>(answer: Promise<T>): Promise<T> {
  return answer;
}
