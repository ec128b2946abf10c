/** Why a page could not be shown. */

/** A lazily loaded part of the dashboard no longer exists: the server has been updated. */
export class MissingPart extends Error {
  override name = 'MissingPart';
}

/**
 * Finds out why a part could not be loaded. The browser reports an update and an unreachable server alike, so this asks
 * the server. (The router would reload the page on its own, even with no server to reload it from.)
 */
export async function explainMissing(error: unknown, askServer: () => Promise<unknown> = isAlive): Promise<never> {
  try {
    await askServer();
  } catch {
    throw new TypeError('Failed to fetch', { cause: error });
  }
  throw new MissingPart('a part of the dashboard is gone', { cause: error });
}

/** Resolves when the server responds, with any status. */
export function isAlive(): Promise<Response> {
  return fetch('/livez', { cache: 'no-store' });
}
