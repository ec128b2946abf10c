/** The surroundings of the socket in a browser. */
import { loggedOut } from '@/api/client';
import { systemClock } from './clock';
import type { Surroundings } from './socket';

export const browser: Surroundings = {
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
  onWake(listener) {
    const seen = () => {
      if (!document.hidden) listener();
    };
    window.addEventListener('online', listener);
    // A wire does not hear that the network is gone; a ping without an answer tells.
    window.addEventListener('offline', listener);
    document.addEventListener('visibilitychange', seen);
    return () => {
      window.removeEventListener('online', listener);
      window.removeEventListener('offline', listener);
      document.removeEventListener('visibilitychange', seen);
    };
  },
};
