/**
 * Shows whether the dashboard is live. A lost connection must be visible: a page without updates looks like a quiet
 * system.
 */
import { useRouterState } from '@tanstack/react-router';
import { WifiOff } from 'lucide-react';
import { useConnection, useSessionsFeed } from '@/live/hooks';
import { cn } from '@/ui/cn';

const words = { open: 'Live', connecting: 'Connecting', lost: 'Disconnected' };
const dots = { open: 'bg-good', connecting: 'bg-idle', lost: 'bg-bad' };

export function ConnectionLight() {
  const connection = useConnection();
  // Stays subscribed while the frame is mounted, so that the light is right on pages that show nothing live.
  useSessionsFeed(nothing);
  return (
    <span
      className="flex items-center gap-1.5 px-1 text-xs text-ink-soft"
      data-testid="connection"
      data-state={connection}
      title={connection === 'open' ? 'Updates appear as they happen' : undefined}
    >
      <span className={cn('size-2 rounded-full', dots[connection])} aria-hidden />
      <span className="max-sm:sr-only">{words[connection]}</span>
    </span>
  );
}

function nothing() {}

export function ConnectionBanner() {
  // The session page itself shows how far it is behind.
  const onSessionPage = useRouterState({ select: (state) => /^\/sessions\/[^/]+$/.test(state.location.pathname) });
  const lost = useConnection() === 'lost' && !onSessionPage;
  return (
    <div role="status">
      {lost && (
        <p className="flex items-center gap-2 border-b border-warn/40 bg-warn-soft px-4 py-1.5 text-warn">
          <WifiOff className="size-4 shrink-0" aria-hidden />
          <span>
            <strong className="font-semibold">Connection lost.</strong> This page may be out of date. Reconnecting…
          </span>
        </p>
      )}
    </div>
  );
}
