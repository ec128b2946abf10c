import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Feedback } from '@/api/types';
import { settled } from '../../../test/kit/settled';
import { FeedbackPart } from './rating';

let root: Root;

beforeEach(() => vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true));

afterEach(async () => {
  await act(async () => root?.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

const opinion = (id: string, author: string, author_id: string, rating: Feedback['rating']): Feedback => ({
  id,
  session_id: 's1',
  author,
  author_id,
  rating,
  why: '',
  real_cause: '',
  created_at: '2030-01-01T00:00:00Z',
  updated_at: '2030-01-01T00:00:00Z',
});

/**
 * Renders the feedback of a session for a user named Ana, and returns the authors whose feedback the user can withdraw.
 */
async function draw(id: string, feedback: Feedback[]): Promise<string[]> {
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname } = new URL(request.url);
    const me = { name: 'Ana', id, scopes: ['read', 'write'], csrf_token: 'x' };
    const json = pathname === '/api/v1/me' ? me : { feedback };
    return new Response(JSON.stringify(json), { headers: { 'Content-Type': 'application/json' } });
  });
  root = createRoot(document.body.appendChild(document.createElement('main')));
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  await act(async () =>
    root.render(
      <QueryClientProvider client={client}>
        <FeedbackPart sessionId="s1" />
      </QueryClientProvider>,
    ),
  );
  const shown = () => [...document.querySelectorAll('[data-testid="opinion"]')];
  await settled(() => {
    expect(shown()).toHaveLength(feedback.length);
    expect(client.isFetching()).toBe(0);
  });
  return feedback.filter((_, place) => shown()[place]?.textContent?.includes('Withdraw')).map((each) => each.author);
}

test('callers can withdraw only their own feedback, compared by identity', async () => {
  const twin = opinion('1', 'Ana', 'key-2', 'wrong');
  expect(await draw('key-1', [twin])).toEqual([]);
  expect(document.querySelector('[aria-pressed="true"]')).toBeNull();
  await act(async () => root.unmount());

  expect(await draw('key-1', [twin, opinion('2', 'Ana (2)', 'key-1', 'right')])).toEqual(['Ana (2)']);
  expect(document.querySelector('[aria-pressed="true"]')?.getAttribute('data-testid')).toBe('rate-right');
});

test('feedback without an identity is matched by name', async () => {
  expect(await draw('key-1', [opinion('1', 'Ana', '', 'wrong'), opinion('2', 'Bob', '', 'wrong')])).toEqual(['Ana']);
});
