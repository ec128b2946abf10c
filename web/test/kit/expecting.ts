/** The ways to read what an expectation is about. Biome refuses others in scenarios (no-raw-read.grit). */
import { expect } from 'vitest';

/** Holds an expectation against a state that the page reaches: reads again until it is met or the time is over. */
export function eventually<T>(look: () => T | Promise<T>, message?: string) {
  return expect.poll(look, { interval: 50, message });
}

/**
 * Reads once what must not have changed or appeared. Waiting would let a wrong state pass, so something else has to wait first,
 * for a sign that whatever could have changed it is over.
 */
export async function still<T>(look: () => Promise<T>): Promise<T> {
  return look();
}

/** An answer of the server, which is read once: what the page reported as done is stored. */
export function stored<T>(answer: Promise<T>): Promise<T> {
  return answer;
}
