import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import * as queries from '@/api/queries';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { EmptyState } from '@/ui/feedback';
import { Answer } from './answer';
import { SearchBox } from './search-box';
import { countOrigins, findSettings, linesOf, type Origin, originLabels, origins, type Setting } from './setting';
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
  const [text, setText] = useState('');
  const [shown, setShown] = useState<ReadonlySet<Origin>>(() => new Set(origins));
  const sought = useDeferredValue(text);
  const counts = useMemo(() => countOrigins(settings), [settings]);
  const found = useMemo(() => findSettings(settings, sought, shown), [settings, sought, shown]);
  const lines = useMemo(() => linesOf(found), [found]);

  const toggle = (origin: Origin) => {
    const next = new Set(shown);
    if (!next.delete(origin)) next.add(origin);
    setShown(next);
  };
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label="Search settings" value={text} onChange={setText} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend in its border. */}
        <div role="group" aria-label="Where values come from" className="flex flex-wrap gap-1">
          {origins.map((origin) => (
            <Button
              key={origin}
              size="sm"
              className={cn('h-9', shown.has(origin) ? 'bg-sunken' : 'text-ink-soft line-through decoration-1')}
              aria-pressed={shown.has(origin)}
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
        <SettingList key={`${sought} ${[...shown].join()}`} lines={lines} />
      )}
      <p className="max-w-prose text-xs text-ink-soft">
        A flag beats an environment variable, which beats a file, which beats what is built in. The server reads its
        configuration once, when it starts; secrets are hidden. docs/configuration.md describes every key.
      </p>
    </div>
  );
}
