/**
 * What the browser runs first: it asks for what the address names while the program of the page still loads, and shows the
 * heart of it. On a slow connection that is seconds earlier. The page then takes over, with the same answers.
 */
import type { Me, SessionDetail, SessionItem } from '@/api/types';
import { askAhead } from './answers';
import { firstList } from './list';
import { firstSession } from './session';
import '../styles.css';

const stage = { over: false, shown: 0 };

/** The addresses whose answers the page asks for, as it does; test/browser/first.test.ts holds that each is asked for once. */
const paths = {
  me: '/api/v1/me',
  sessions: '/api/v1/sessions?order=attention&limit=50',
  session: (id: string) => `/api/v1/sessions/${id}`,
  timeline: (id: string) => `/api/v1/sessions/${id}/timeline?preview=400&limit=5000`,
};

const sessionAddress = /^\/sessions\/([0-9a-f-]{36})$/;

async function read<T>(path: string): Promise<T | undefined> {
  const answer = await askAhead(path);
  return answer.ok ? ((await answer.json()) as T) : undefined;
}

/** Draws what an answer says, unless the page is there or the reader has gone on. */
async function draw<T>(path: string, drawn: (answer: T) => HTMLElement): Promise<void> {
  stage.shown++;
  const { shown } = stage;
  const answer = await read<T>(path);
  const main = document.getElementById('first');
  if (answer === undefined || main === null || stage.over || shown !== stage.shown) return;
  main.replaceChildren(drawn(answer));
  performance.mark('first');
}

/** Asks for the data of the page at this address and loads its program, in this order: the first is far smaller. */
async function show(): Promise<void> {
  const id = sessionAddress.exec(location.pathname)?.[1];
  if (id !== undefined) {
    const drawn = draw<SessionDetail>(paths.session(id), firstSession);
    askAhead(paths.timeline(id)).catch(() => {});
    void import('@/pages/session/page').catch(() => {});
    await drawn;
  } else if (location.pathname === '/' && location.search === '') {
    const drawn = draw<{ sessions: SessionItem[] }>(paths.sessions, ({ sessions }) => firstList(sessions));
    void import('@/pages/sessions/page').catch(() => {});
    await drawn;
  }
}

/** Links work before the page is there, without starting it over. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('#first a[href]') : null;
  if (!link || stage.over || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  show().catch(() => {});
}

async function begin(): Promise<void> {
  const who = await read<Me>(paths.me).catch(() => undefined);
  // Who is not logged in is led to the login by the page, which also says what is wrong with a server that does not answer.
  if (who?.authenticated) show().catch(() => {});
  const { start } = await import('../main');
  await start(() => {
    stage.over = true;
    document.removeEventListener('click', follow);
  });
}

document.addEventListener('click', follow);
void begin();
