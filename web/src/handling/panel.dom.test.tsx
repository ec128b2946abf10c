import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Handling } from '@/api/types';
import { settled } from '../../test/kit/settled';
import { HandlingMarks } from './marks';
import { HandlingPanel } from './panel';
import { unhandled } from './words';

let root: Root;
let changes: unknown[];
let stored: Handling;
let refuse: string | undefined;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  changes = [];
  refuse = undefined;
});

afterEach(async () => {
  await act(async () => root?.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

/** Renders the panel of a session against a server that stores every change. */
async function draw(handling: Partial<Handling> = {}, scopes = ['read', 'write']) {
  stored = { ...unhandled('s1'), ...handling };
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname } = new URL(request.url);
    const json = (body: unknown, status = 200) =>
      new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
    if (pathname === '/api/v1/me') return json({ name: 'ada', id: 'key-1', scopes, csrf_token: 'x' });
    if (pathname.endsWith('/filter-options')) return json({ assignees: ['bob'], tags: ['known'] });
    if (request.method === 'PATCH') {
      const change = (await request.json()) as Partial<Handling>;
      changes.push(change);
      if (refuse) return json({ status: 409, code: 'conflict', title: 'Refused', detail: refuse }, 409);
      if (change.state)
        stored = { ...stored, state: change.state, acknowledged_by: 'ada', acknowledged_at: '2030-01-01T00:00:00Z' };
    }
    return json(stored);
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const place = document.body.appendChild(document.createElement('main'));
  root = createRoot(place);
  await act(async () =>
    root.render(
      <QueryClientProvider client={client}>
        <HandlingPanel session={{ id: 's1', handling: stored }} />
      </QueryClientProvider>,
    ),
  );
}

const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

async function click(id: string) {
  await act(async () => find(id)?.click());
}

async function type(id: string, text: string) {
  await act(async () => {
    const field = find(id) as HTMLInputElement;
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set;
    set?.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

describe('the handling panel', () => {
  test('acknowledges with one click and shows who did it', async () => {
    await draw();
    expect(find('handling-state')?.textContent).toContain('Open');
    await click('handling-acknowledge');
    await settled(() => expect(find('handling-state')?.textContent).toContain('Acknowledgedby ada'));
    expect(changes).toEqual([{ state: 'acknowledged' }]);
    expect(find('handling-acknowledge')).toBeNull();
    expect(find('handling-reopen')).not.toBeNull();
  });

  test('resolves with a note', async () => {
    await draw();
    await click('handling-resolve');
    const note = document.querySelector('textarea') as HTMLTextAreaElement;
    note.dataset.testid = 'note';
    await type('note', ' Restarted. ');
    await click('resolve-submit');
    expect(changes).toEqual([{ state: 'resolved', resolution: 'Restarted.' }]);
  });

  test('assigns to a name, to the caller and to no one', async () => {
    await draw({ assignee: 'cy' });
    await click('handling-take');
    await click('handling-assign');
    await type('assign-name', 'bob');
    await click('assign-submit');
    await click('handling-assign');
    await click('assign-nobody');
    expect(changes).toEqual([{ assignee: 'me' }, { assignee: 'bob' }, { assignee: '' }]);
  });

  test('offers to assign to the caller unless the session is theirs already', async () => {
    for (const [assignee, assignee_id, theirs] of [
      ['ada', 'key-1', true],
      ['Ada L.', 'key-1', true],
      ['ada', '', true],
      ['ada', 'key-2', false],
      ['', '', false],
    ] as const) {
      await draw({ assignee, assignee_id });
      await settled(() => expect(find('handling-take') === null, `${assignee} ${assignee_id}`).toBe(theirs));
      await act(async () => root.unmount());
    }
  });

  test('keeps the assignee if the name is unchanged', async () => {
    await draw({ assignee: 'cy', assignee_id: 'key-2' });
    await click('handling-assign');
    await click('assign-submit');
    await settled(() => expect(find('assign-name')).toBeNull());
    expect(changes).toEqual([]);
  });

  test('sends only added and removed tags', async () => {
    await draw({ tags: ['Disk', 'noise'] });
    await click('handling-tags');
    await act(async () => document.querySelector<HTMLElement>('[aria-label="Remove tag noise"]')?.click());
    await type('tag-name', 'capacity');
    await click('tag-add');
    await type('tag-name', 'DISK');
    await click('tags-submit');
    expect(changes).toEqual([{ tags: { add: ['capacity'], remove: ['noise'] } }]);
  });

  test('shows the error of the server', async () => {
    await draw();
    refuse = 'only a resolved session has a resolution';
    await click('handling-acknowledge');
    await settled(() => expect(document.body.textContent).toContain('only a resolved session has a resolution'));
    expect(find('handling-state')?.textContent).toContain('Open');
  });

  test('is read-only for a key without the write scope', async () => {
    await draw(
      { state: 'resolved', resolved_by: 'bob', resolved_at: '2030-01-01T00:00:00Z', resolution: 'Done.', tags: ['x'] },
      ['read'],
    );
    await settled(() => expect(document.querySelector('button')).toBeNull());
    expect(find('handling-state')?.textContent).toContain('Resolvedby bob');
    expect(find('handling-resolution')?.textContent).toContain('Done.');
    expect(find('tag')?.textContent).toBe('x');
  });
});

test('list badges show hostile text as text, and nothing for an unhandled session', () => {
  expect(renderToStaticMarkup(<HandlingMarks handling={null} />)).toBe('');
  expect(renderToStaticMarkup(<HandlingMarks handling={unhandled('s1')} />)).toBe('');
  const html = renderToStaticMarkup(
    <HandlingMarks
      handling={{
        ...unhandled('s1'),
        state: 'acknowledged',
        assignee: '<b>eve</b>',
        tags: ['<i>a</i>', 'b', 'c', 'd'],
      }}
    />,
  );
  expect(html).toContain('Acknowledged');
  expect(html).toContain('&lt;b&gt;eve&lt;/b&gt;');
  expect(html).toContain('&lt;i&gt;a&lt;/i&gt;');
  expect(html).toContain('+2');
  expect(html).not.toContain('<i>a');
});
