import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { settled } from '../../test/kit/settled';
import { ApprovalCard } from './card';
import { DecisionsProvider, undoMs } from './decisions';

// There is no router here; the browser's scenarios leave the page.
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useBlocker: () => ({ status: 'idle' }),
  useRouterState: () => false,
}));

const hour = 3_600_000;
const original = '{"replicas":12345678901234567890,"ratio":1.10,"note":"<b>bold</b>"}';

interface Given {
  status?: string;
  scopes?: string[];
  expiresIn?: number;
  approval?: object;
  edited?: string;
  statement?: string;
  earlier?: object;
}

let root: Root;
let requests: { method: string; path: string; body: string }[];
let refuse: { status: number; detail: string } | undefined;
const reload = vi.fn();

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  requests = [];
  refuse = undefined;
  reload.mockClear();
});

afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Renders the card of a call against a fake server. */
async function draw({ status = 'waiting', scopes = ['read', 'write'], expiresIn = hour, ...given }: Given = {}) {
  const approval = {
    status,
    scope: 'call',
    rule: 'approvals.rules[0]',
    rule_text: 'A rule makes calls of every tool wait for a person.',
    expires_at: new Date(Date.now() + expiresIn).toISOString(),
    ...given.approval,
  };
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname } = new URL(request.url);
    requests.push({ method: request.method, path: pathname, body: await request.text() });
    const json = (body: string, code = 200) =>
      new Response(body, { status: code, headers: { 'Content-Type': 'application/json' } });
    if (pathname === '/api/v1/me') return json(JSON.stringify({ name: 'ada', id: 'key-1', scopes, csrf_token: 'x' }));
    if (pathname === '/api/v1/system/mcp-servers') {
      return json('{"servers":[{"id":"cluster","tools":[{"name":"scale","description":"Changes the replicas."}]}]}');
    }
    if (request.method === 'GET') {
      const shown = JSON.stringify({ ...approval, arguments: undefined });
      const withEdited = given.edited ? `${shown.slice(0, -1)},"arguments":${given.edited}}` : shown;
      return json(
        `{"id":"a1","agent_name":"Fixer","server_name":"cluster","tool_name":"scale","tool_arguments":${original},"statement":${JSON.stringify(given.statement ?? '')},"earlier":${JSON.stringify(given.earlier)},"created_at":"2030-01-01T00:00:00Z","approval":${withEdited}}`.replace(
          '"earlier":undefined,',
          '',
        ),
      );
    }
    if (refuse) {
      const { status: code, detail } = refuse;
      return json(JSON.stringify({ status: code, code: 'approval_not_open', title: 'Refused', detail }), code);
    }
    return json('{"id":"a1","session_id":"s1","status":"approved"}', 202);
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const place = document.body.appendChild(document.createElement('main'));
  root = createRoot(place);
  await act(async () =>
    root.render(
      <QueryClientProvider client={client}>
        <DecisionsProvider waiting={status === 'waiting' ? ['a1'] : []} reload={reload}>
          <ApprovalCard
            id="a1"
            approval={approval as Parameters<typeof ApprovalCard>[0]['approval']}
            server="cluster"
            tool="scale"
            createdAt="2030-01-01T00:00:00Z"
            waiting={status === 'waiting'}
          />
        </DecisionsProvider>
      </QueryClientProvider>,
    ),
  );
  await settled(() => expect(find('approval-arguments')).toBeTruthy());
}

const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const text = (id: string) => find(id)?.textContent ?? '';
const click = (id: string) => act(async () => find(id)?.click());
/** Runs an action, and then lets the time pass in which its decision can be undone. */
async function andLetItBeSent(action: () => Promise<unknown>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await action();
  expect(text('approval-held')).toContain('If you leave the page before, nothing is sent.');
  expect(decisions()).toEqual([]);
  await act(async () => void vi.advanceTimersByTime(undoMs));
  vi.useRealTimers();
}

const decisions = () => requests.filter(({ method }) => method === 'POST');

async function type(field: HTMLTextAreaElement | null | undefined, value: string) {
  await act(async () => {
    if (!field) throw new Error('there is no field');
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')?.set?.call(field, value);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

describe('a call waiting for approval', () => {
  test('shows the agent, the tool, the rule, the expiry and the exact arguments', async () => {
    await draw();
    expect(text('approval')).toContain('Waiting for approval');
    expect(text('approval')).toContain('Fixer wants to call cluster.scale');
    expect(text('approval-rule')).toContain('A rule makes calls of every tool wait for a person.');
    expect(text('approval-rule')).toContain('approvals.rules[0]');
    await settled(() => expect(text('approval-does')).toBe('Changes the replicas. (as its server says)'));
    expect(text('approval-statement')).toBe('The agent wrote no reason.');
    expect(text('approval-earlier')).toBe('No decision about this tool among the last 500 requests.');
    expect(text('approval-expiry')).toMatch(/^Expires in (59 m|1 h)/);
    expect(find('approval-expiry')?.title).toMatch(/\d\d:\d\d/);
    expect(find('approval-arguments')?.querySelector('pre')?.textContent).toBe(
      '{\n  "replicas": 12345678901234567890,\n  "ratio": 1.10,\n  "note": "<b>bold</b>"\n}',
    );
    expect(document.querySelector('b')).toBeNull();
  });

  test('shows the words of the agent as text and earlier decisions about the tool', async () => {
    const earlier = {
      approved: 3,
      rejected: 1,
      last_status: 'rejected',
      last_by: 'bob',
      last_at: '2020-01-01T00:00:00Z',
    };
    await draw({ statement: '<b>It hangs</b>. **Restart** it.', earlier });
    expect(text('approval-statement')).toBe('What the agent wrote (not verified)<b>It hangs</b>. **Restart** it.');
    expect(text('approval-earlier')).toContain('3 approved, 1 rejected. The last one was rejected by bob');
    expect(document.querySelector('b')).toBeNull();
  });

  test('is approved with one click and sent after three seconds, then waits for the session', async () => {
    await draw();
    await andLetItBeSent(() => click('approval-approve'));
    await settled(() => expect(text('approval-note')).toContain('Waiting for the session to continue'));
    expect(decisions()).toEqual([{ method: 'POST', path: '/api/v1/approvals/a1/approve', body: '{}' }]);
    expect(find('approval-approve')).toBeNull();
    expect(document.activeElement).toBe(find('approval'));
  });

  test('sends nothing if the decision is undone', async () => {
    await draw();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await click('approval-approve');
    expect(find('approval-approve')).toBeNull();
    await act(async () => void vi.advanceTimersByTime(undoMs - 1));
    await click('approval-undo');
    expect(find('approval-approve')).not.toBeNull();
    await act(async () => void vi.advanceTimersByTime(10 * undoMs));
    expect(decisions()).toEqual([]);
    expect(document.activeElement).toBe(find('approval'));
  });

  test('sends nothing if the page is left before', async () => {
    await draw();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await click('approval-approve');
    await act(async () => root.render(null));
    await act(async () => void vi.advanceTimersByTime(10 * undoMs));
    expect(decisions()).toEqual([]);
  });

  test('is rejected only with a reason', async () => {
    await draw();
    await click('approval-reject');
    await click('reject-confirm');
    expect(text('reject-form')).toContain('Enter a reason.');
    expect(decisions()).toEqual([]);
    await type(find('reject-form')?.querySelector('textarea'), ' Not on a Friday ');
    await andLetItBeSent(() => click('reject-confirm'));
    expect(find('reject-form')).toBeNull();
    await settled(() => expect(text('approval-note')).toContain('Waiting for the session'));
    expect(decisions()).toEqual([
      { method: 'POST', path: '/api/v1/approvals/a1/reject', body: '{"reason":"Not on a Friday"}' },
    ]);
  });

  test('shows the changes of edited arguments and sends them as typed', async () => {
    await draw();
    await click('approval-edit');
    const field = () => find('edit-form')?.querySelector('textarea');
    expect(field()?.value).toContain('12345678901234567890');
    expect((find('edit-confirm') as HTMLButtonElement).disabled).toBe(true);
    await type(field(), '[1]');
    expect(text('edit-form')).toContain('must be a JSON object');
    await type(field(), '{"replicas": }');
    expect(text('edit-form')).toContain('Line 1, column 14');
    expect((find('edit-confirm') as HTMLButtonElement).disabled).toBe(true);
    const typed = '{"replicas": 98765432109876543210, "ratio":1.10,"note":"<b>bold</b>"}';
    await type(field(), typed);
    const changes = [...document.querySelectorAll('[data-kind]')].map((line) => [
      line.getAttribute('data-kind'),
      line.lastChild?.textContent?.trim(),
    ]);
    expect(changes.filter(([kind]) => kind !== 'same')).toEqual([
      ['removed', '"replicas": 12345678901234567890,'],
      ['added', '"replicas": 98765432109876543210,'],
    ]);
    await andLetItBeSent(() => click('edit-confirm'));
    expect(find('edit-form')).toBeNull();
    await settled(() => expect(text('approval-note')).toContain('Waiting for the session'));
    expect(decisions().at(-1)?.body).toBe(`{"arguments":${typed}}`);
  });

  test('shows a conflict and reloads when someone else has decided', async () => {
    await draw();
    refuse = { status: 409, detail: 'bob rejected this call.' };
    await andLetItBeSent(() => click('approval-approve'));
    await settled(() => expect(text('approval-conflict')).toBe('bob rejected this call.'));
    expect(reload).toHaveBeenCalled();
    expect(find('approval-approve')).toBeNull();
  });

  test('keeps the typed text when the server fails', async () => {
    await draw();
    refuse = { status: 500, detail: 'The database is away.' };
    await click('approval-reject');
    await type(find('reject-form')?.querySelector('textarea'), 'Too risky');
    await andLetItBeSent(() => click('reject-confirm'));
    await settled(() => expect(text('approval')).toContain('The database is away.'));
    await click('approval-reject');
    expect(find('reject-form')?.querySelector('textarea')?.value).toBe('Too risky');
    expect(reload).not.toHaveBeenCalled();
  });

  test('shows the reason instead of buttons without the write scope', async () => {
    await draw({ scopes: ['read'] });
    await settled(() => expect(text('approval-note')).toContain('Your access is read-only.'));
    for (const id of ['approval-approve', 'approval-reject', 'approval-edit']) expect(find(id)).toBeNull();
  });

  test('cannot be decided after it has expired', async () => {
    await draw({ expiresIn: -1000 });
    expect(text('approval-expiry')).toBe('Expired');
    expect(text('approval-note')).toContain('The request has expired');
    expect(find('approval-approve')).toBeNull();
  });
});

describe('a decided call', () => {
  test('shows who decided, when and why', async () => {
    const approval = { decided_by: 'bob', decided_at: '2030-01-01T10:00:00Z', reason: 'Not now' };
    await draw({ status: 'rejected', approval });
    expect(text('approval')).toContain('Rejected');
    expect(text('approval-decided')).toContain('by bob');
    expect(text('approval-decided')).toContain('2030');
    expect(text('approval-reason')).toBe('Not now');
    expect(find('approval-reject')).toBeNull();
  });

  test('shows edited arguments beside the original ones', async () => {
    const edited = '{"replicas":2}';
    await draw({ status: 'approved', edited, approval: { decided_by: 'bob', arguments: { replicas: 2 } } });
    expect(text('approval')).toContain('Approved with changes');
    const labels = [...document.querySelectorAll('[data-testid="approval-arguments"]')].map((part) =>
      part.getAttribute('aria-label'),
    );
    expect(labels).toEqual(['Original arguments', 'Approved arguments']);
    expect(text('arguments-diff')).toContain('"replicas": 2');
  });
});
