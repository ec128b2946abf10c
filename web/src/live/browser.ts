/** The environment of the socket in a browser. */
import { api, body, loggedOut } from '@/api/client';
import { systemClock } from './clock';
import type { Environment } from './socket';

export const browser: Environment = {
  clock: systemClock,
  random: Math.random,
  connect(events) {
    const url = new URL('/api/v1/ws', window.location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const wire = new WebSocket(url);
    wire.onopen = () => events.opened();
    wire.onmessage = (message: MessageEvent<unknown>) => {
      if (typeof message.data === 'string') events.received(message.data);
    };
    wire.onclose = (event) => events.closed(event.code);
    return { send: (text) => wire.send(text), close: () => wire.close() };
  },
  loggedOut,
  checkLogin() {
    body(api.GET('/api/v1/me')).then(
      (who) => {
        if (!who.authenticated) loggedOut();
      },
      () => {}, // Unreachable; the next attempt checks again.
    );
  },
  onWake(listener) {
    // Captured now: a connection outlives its last subscriber and, in tests, the page.
    const [page, shown] = [window, document];
    const seen = () => {
      if (!shown.hidden) listener();
    };
    page.addEventListener('online', listener);
    // A WebSocket does not notice that the network is gone; an unanswered ping does.
    page.addEventListener('offline', listener);
    shown.addEventListener('visibilitychange', seen);
    return () => {
      page.removeEventListener('online', listener);
      page.removeEventListener('offline', listener);
      shown.removeEventListener('visibilitychange', seen);
    };
  },
};
