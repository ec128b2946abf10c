/** Browser notifications when a session ends or needs an approval. Off until the user turns them on. */
import { Bell, BellRing } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { titleOf } from '@/alert/facts';
import { isOver } from '@/api/status';
import type { SessionDetail } from '@/api/types';
import { approvalWord } from '@/approval/words';
import type { SessionStore, SessionView } from '@/live/view';
import { plainText } from '@/text/plain';
import { outcomeWord } from '@/text/words';
import { Button } from '@/ui/button';
import { statusLabel } from '@/ui/status';
import { Stored, useStored } from '@/ui/stored';
import { callName } from './waiting';

const wanted = new Stored<'off' | 'on'>('tarsy.notify', ['off', 'on']);

/** Browsers support notifications only on secure origins: TLS or the local machine. */
function permission(): NotificationPermission | 'missing' {
  return 'Notification' in window && window.isSecureContext ? Notification.permission : 'missing';
}

/** The switch. It asks for permission only when turned on. */
export function NotifySwitch() {
  const [allowed, setAllowed] = useState(permission);
  const on = useStored(wanted) === 'on' && allowed === 'granted';
  if (allowed === 'missing') return null;
  const toggle = async () => {
    if (on) {
      wanted.set('off');
      return;
    }
    const answer = allowed === 'granted' ? allowed : await Notification.requestPermission();
    setAllowed(answer);
    wanted.set(answer === 'granted' ? 'on' : 'off');
  };
  const blocked = allowed === 'denied';
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {blocked && <span className="text-xs text-ink-soft">Notifications are blocked in the browser's settings.</span>}
      <Button
        variant="ghost"
        size="sm"
        role="switch"
        aria-checked={on}
        disabled={blocked}
        onClick={() => void toggle()}
        data-testid="notify"
      >
        {on ? <BellRing aria-hidden /> : <Bell aria-hidden />}
        <span>Notify me</span>
        <span className="sr-only"> with a browser notification when the session ends or needs an approval</span>
        <span aria-hidden className="text-ink-faint">
          {on ? 'on' : 'off'}
        </span>
      </Button>
    </span>
  );
}

/** Notifies when the session ends while the tab is not visible. */
export function useNotification(session: SessionDetail): void {
  const over = isOver(session.status);
  const before = useRef(over);
  useEffect(() => {
    const ended = over && !before.current;
    before.current = over;
    if (!ended) return;
    const word = session.outcome === '' ? statusLabel(session.status) : outcomeWord(session.outcome);
    notify(`${word}: ${titleOf(session)}`, plainText(session.cause), `tarsy-${session.id}`);
  }, [over, session]);
}

/** Notifies when a tool call starts to wait for an approval. */
export function useApprovalNotification(store: SessionStore, { session, waiting }: SessionView): void {
  const known = useRef(new Set(waiting));
  const title = titleOf(session);
  useEffect(() => {
    for (const id of waiting) {
      if (!known.current.has(id))
        notify(`${approvalWord('waiting')}: ${title}`, callName(store.event(id)), `tarsy-${id}`);
      known.current.add(id);
    }
  }, [store, waiting, title]);
}

/** Shows a notification if they are turned on and the tab is not visible. */
function notify(title: string, body: string, tag: string): void {
  if (wanted.get() !== 'on' || permission() !== 'granted' || document.visibilityState === 'visible') return;
  const note = new Notification(title, { body, tag });
  note.onclick = () => {
    window.focus();
    note.close();
  };
}
