import createClient, { type Middleware } from 'openapi-fetch';
import { fetchOrReuse } from '@/first/answers';
import { Problem, problemOf } from './problem';
import type { paths } from './schema';

/** The CSRF token of the browser session; `me` and `login` return it. */
let csrfToken = '';

export function rememberToken(token: string): void {
  csrfToken = token;
}

/** Called when the login is no longer valid. */
let onLoggedOut: () => void = () => {};

export function whenLoggedOut(listener: () => void): void {
  onLoggedOut = listener;
}

/** For other parts of the dashboard that learn that the login is no longer valid. */
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

/** The client for every request of the dashboard: typed by the server's OpenAPI document; failures throw a Problem. */
export const api = createClient<paths>({ baseUrl: globalThis.location?.origin ?? '', fetch: fetchOrReuse });
api.use(guard);

/** Returns the body of a response. Failed responses have already thrown. */
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
