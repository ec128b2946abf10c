/** The first view of the session list: the title, status, cause and link of each session. */
import type { SessionItem } from '@/api/types';
import { age } from '@/text/age';
import { plainText } from '@/text/plain';
import { outcomeWord, statusWord } from '@/text/words';
import { element } from './element';

/** No phone shows more on its first screen. */
const most = 12;

export function firstList(sessions: readonly SessionItem[]): HTMLElement {
  return element(
    'div',
    { class: 'mx-auto w-full max-w-[150rem] space-y-3 p-3 sm:p-4', 'data-testid': 'first-list' },
    element('h1', { class: 'text-lg font-semibold' }, 'Sessions'),
    element('ul', { class: 'space-y-2' }, ...sessions.slice(0, most).map(row)),
  );
}

function row(session: SessionItem): HTMLElement {
  const line = plainText(session.cause || session.executive_summary || session.error_message);
  return element(
    'li',
    { class: 'overflow-hidden rounded-lg border border-line bg-surface' },
    element(
      'a',
      { href: `/sessions/${session.id}`, class: 'block min-h-11 px-4 py-2.5', 'data-testid': 'first-row' },
      element(
        'span',
        { class: 'flex items-center justify-between gap-2 text-xs text-ink-soft' },
        badge(session),
        age(session.created_at, new Date()),
      ),
      element('span', { class: 'block pt-0.5 font-semibold break-words' }, session.title || session.alert_type),
      element('span', { class: 'line-clamp-2 text-ink-soft' }, line),
    ),
  );
}

export function badge({ status, outcome }: Pick<SessionItem, 'status' | 'outcome'>): HTMLElement {
  const word = status === 'completed' && outcome !== '' ? outcomeWord(outcome) : statusWord(status);
  const look = 'inline-flex h-6 items-center rounded-full bg-idle-soft px-2 text-xs font-medium text-idle';
  return element('span', { class: look }, word);
}
