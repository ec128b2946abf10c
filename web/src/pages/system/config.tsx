import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import * as queries from '@/api/queries';
import type { Setting } from '@/api/types';
import { Answer } from '@/ui/answer';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { EmptyState } from '@/ui/feedback';
import { SearchBox } from '@/ui/search-box';
import { useSystemSearch } from './address';
import { type Origin, origins } from './search';
import { countOrigins, findSettings, linesOf, originLabels } from './setting';
import { SettingList } from './setting-list';

export function ConfigTab() {
  const settings = useQuery(queries.settings());
  return (
    <Answer query={settings} what="the configuration" rows={8}>
      {(data) => <Settings settings={data.settings} />}
    </Answer>
  );
}

function Settings({ settings }: { settings: readonly Setting[] }) {
  const { search, change } = useSystemSearch();
  const sought = search.q ?? '';
  const shown = search.origin ?? origins;
  const counts = useMemo(() => countOrigins(settings), [settings]);
  const found = useMemo(() => findSettings(settings, sought, shown), [settings, sought, shown]);
  const lines = useMemo(() => linesOf(found), [found]);

  const toggle = (origin: Origin) => {
    const next = origins.filter((one) => shown.includes(one) !== (one === origin));
    // Selecting no origin would show nothing: deselecting the last one selects all.
    change({ origin: next.length === 0 || next.length === origins.length ? undefined : next });
  };
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label="Search settings" value={sought} onChange={(q) => change({ q })} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend in its border. */}
        <div role="group" aria-label="Origins" className="flex flex-wrap gap-1">
          {origins.map((origin) => (
            <Button
              key={origin}
              size="sm"
              className={cn('h-9', shown.includes(origin) ? 'bg-sunken' : 'text-ink-soft line-through decoration-1')}
              aria-pressed={shown.includes(origin)}
              onClick={() => toggle(origin)}
              data-testid={`config-origin-${origin}`}
            >
              {originLabels[origin]} <span className="font-normal text-ink-soft tabular-nums">{counts[origin]}</span>
            </Button>
          ))}
        </div>
        <span className="text-xs text-ink-soft tabular-nums" aria-live="polite">
          {found.length === settings.length
            ? `${settings.length} settings`
            : `${found.length} of ${settings.length} settings`}
        </span>
      </div>
      {lines.length === 0 ? (
        <EmptyState title="No settings match">Change the search or show more origins.</EmptyState>
      ) : (
        <SettingList key={`${sought} ${shown.join()}`} lines={lines} />
      )}
      <p className="max-w-prose text-xs text-ink-soft">
        Precedence: flag, environment variable, file, built-in default. The server reads its configuration when it
        starts. Secrets are hidden. See docs/configuration.md for every key.
      </p>
    </div>
  );
}
