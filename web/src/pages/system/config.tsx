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
    // Settings of no origin are of no use to anybody: without the last one, all are back.
    change({ origin: next.length === 0 || next.length === origins.length ? undefined : next });
  };
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label="Search settings" value={sought} onChange={(q) => change({ q })} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend in its border. */}
        <div role="group" aria-label="Where values come from" className="flex flex-wrap gap-1">
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
        <EmptyState title={settings.length === 0 ? 'The server tells no settings' : 'No setting matches'} />
      ) : (
        <SettingList key={`${sought} ${shown.join()}`} lines={lines} />
      )}
      <p className="max-w-prose text-xs text-ink-soft">
        A flag beats an environment variable, which beats a file, which beats what is built in. The server reads its
        configuration once, when it starts; secrets are hidden. docs/configuration.md describes every key.
      </p>
    </div>
  );
}
