import type { components } from './schema';

/** A failed request in the server's words: the body of an RFC 9457 problem, or why there is none. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly field: string;
  readonly instance: string;

  constructor(parts: {
    status: number;
    code: string;
    title: string;
    detail: string;
    field?: string;
    instance?: string;
  }) {
    super(parts.detail || parts.title);
    this.name = 'Problem';
    this.status = parts.status;
    this.code = parts.code;
    this.title = parts.title;
    this.field = parts.field ?? '';
    this.instance = parts.instance ?? '';
  }

  /** Whether retrying later may help. */
  get retryable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Reads the problem from an unsuccessful response. */
export async function problemOf(response: Response): Promise<Problem> {
  const fallback = {
    status: response.status,
    code: 'unknown',
    title: response.statusText || `HTTP ${response.status}`,
    detail: `The server responded with ${response.status} and no details. Check the server log.`,
  };
  try {
    const body: unknown = await response.clone().json();
    if (typeof body !== 'object' || body === null) return new Problem(fallback);
    const problem: Partial<components['schemas']['Problem']> = body;
    const text = (value: unknown) => (typeof value === 'string' ? value : '');
    return new Problem({
      status: response.status,
      code: text(problem.code) || fallback.code,
      title: text(problem.title) || fallback.title,
      detail: text(problem.detail) || fallback.detail,
      field: text(problem.field),
      instance: text(problem.instance),
    });
  } catch {
    return new Problem(fallback);
  }
}

/** Reports whether a request got no response at all. Browsers have no error code for it, only a message. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError && /failed to fetch|networkerror|load failed/i.test(error.message);
}

/** Converts anything thrown to a Problem. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnreachable(error)) {
    const detail = 'Cannot reach the server. Check the connection and try again.';
    return new Problem({ status: 0, code: 'unreachable', title: 'Server unreachable', detail });
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ status: 0, code: 'page_error', title: 'Something went wrong in the dashboard', detail });
}
