import createClient, { type Middleware } from 'openapi-fetch';
import { fetchOrTake } from '@/first/answers';
import { Problem, problemOf } from './problem';
import type { paths } from './schema';

/** The browser session's token against forged requests; `me` and `login` return it. */
let csrfToken = '';

export function rememberToken(token: string): void {
  csrfToken = token;
}

/** Called when the login is no longer valid. */
let onLoggedOut: () => void = () => {};

export function whenLoggedOut(listener: () => void): void {
  onLoggedOut = listener;
}

/** For other parts of the page that learn that the login is no longer valid. */
export function loggedOut(): void {
  onLoggedOut();
}

const guard: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== '' && request.method !== 'GET') request.headers.set('X-CSRF-Token', csrfToken);
    return request;
  },
  async onResponse({ response, schemaPath }) {
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (problem.status === 401 && schemaPath !== '/api/v1/login') onLoggedOut();
    throw problem;
  },
};

/** Every request of the page goes through here: typed by the server's own document, failing with a Problem. */
export const api = createClient<paths>({ baseUrl: globalThis.location?.origin ?? '', fetch: fetchOrTake });
api.use(guard);

/** Takes the body out of an answer; failures were thrown before. */
export async function body<T>(answer: Promise<{ data?: T; response: Response }>): Promise<T> {
  const { data, response } = await answer;
  if (data === undefined) {
    throw new Problem({
      status: response.status,
      code: 'unknown',
      title: 'Empty response',
      detail: 'The server sent an empty response. Try again.',
    });
  }
  return data;
}
