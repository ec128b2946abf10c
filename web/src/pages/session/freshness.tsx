/** Shows that the page is behind, and which state it shows. */
import { LoaderCircle, WifiOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Freshness } from '@/live/view';
import { clockTime } from '@/text/format';
import { useZone, type Zone } from '@/text/zone';

/** Catching up usually takes an instant and then shows nothing. */
const patience = 700;

export function FreshnessBanner({ freshness }: { freshness: Freshness }) {
  const zone = useZone();
  const behind = freshness.state === 'behind';
  const caughtUpSlowly = useSustained(behind && freshness.reason === 'catching-up');
  const shown = behind && (freshness.reason === 'connecting' || caughtUpSlowly);
  return (
    <div aria-live="polite" data-testid="freshness" data-state={behind ? freshness.reason : 'live'}>
      {shown && (
        <p className="flex items-center gap-2 border-b border-warn/40 bg-warn-soft px-4 py-1.5 text-warn">
          {freshness.reason === 'connecting' ? (
            <WifiOff className="size-4 shrink-0" aria-hidden />
          ) : (
            <LoaderCircle className="size-4 shrink-0 animate-spin" aria-hidden />
          )}
          {freshnessWords(freshness, zone)}
        </p>
      )}
    </div>
  );
}

export function freshnessWords(freshness: Freshness & { state: 'behind' }, zone: Zone): string {
  if (freshness.reason === 'catching-up') return 'Catching up…';
  return `Connection lost. Showing the state as of ${clockTime(freshness.since, zone)}; reconnecting…`;
}

/** Reports whether a condition has lasted for a while. */
function useSustained(condition: boolean): boolean {
  const [sustained, setSustained] = useState(false);
  useEffect(() => {
    if (!condition) {
      setSustained(false);
      return;
    }
    const timer = setTimeout(() => setSustained(true), patience);
    return () => clearTimeout(timer);
  }, [condition]);
  return sustained;
}
