/**
 * The entry point in the browser: requests the data of the current address while the app loads, and shows its most
 * important part, which is seconds earlier on a slow connection. The app then takes over with the same responses.
 */
import type { Me, SessionDetail, SessionItem } from '@/api/types';
import { askAhead } from './answers';
import { firstList } from './list';
import { firstSession } from './session';
import '../styles.css';

const stage = { over: false, shown: 0 };

/**
 * The requests that the app will make, character for character; test/browser/first.test.ts checks that each is sent
 * once.
 */
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

/** Renders a response, unless the app has started or the user has navigated away. */
async function draw<T>(path: string, drawn: (answer: T) => HTMLElement): Promise<void> {
  stage.shown++;
  const { shown } = stage;
  const answer = await read<T>(path);
  const main = document.getElementById('first');
  if (answer === undefined || main === null || stage.over || shown !== stage.shown) return;
  main.replaceChildren(drawn(answer));
  performance.mark('first');
}

/** Requests the data of the current address, then loads the page's code: the data is far smaller. */
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

/** Makes links work before the app has started, without a full page load. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('#first a[href]') : null;
  if (!link || stage.over || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  show().catch(() => {});
}

async function begin(): Promise<void> {
  const who = await read<Me>(paths.me).catch(() => undefined);
  // If nobody is logged in, the app redirects to the login page; it also reports a server that does not respond.
  if (who?.authenticated) show().catch(() => {});
  const { start } = await import('../main');
  await start(() => {
    stage.over = true;
    document.removeEventListener('click', follow);
  });
}

document.addEventListener('click', follow);
void begin();
