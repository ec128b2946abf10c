/** Why a page could not be shown. */

/** A part of the dashboard that was to be loaded later is not there any more: the server has been updated. */
export class MissingPart extends Error {
  override name = 'MissingPart';
}

/**
 * Finds out why a part could not be loaded. For the browser an update and a server that is away are the same; the server
 * itself knows better. (The router would reload the page by itself, also when there is no server to reload it from.)
 */
export async function explainMissing(error: unknown, askServer: () => Promise<unknown> = isAlive): Promise<never> {
  try {
    await askServer();
  } catch {
    throw new TypeError('Failed to fetch', { cause: error });
  }
  throw new MissingPart('a part of the dashboard is gone', { cause: error });
}

/** Fulfilled when the server answers, whatever it answers. */
export function isAlive(): Promise<Response> {
  return fetch('/livez', { cache: 'no-store' });
}
