import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { originOf, type SettingLine } from './setting';

/** Longer lists are virtualized. */
const plainUpTo = 200;
/** Longer values are shortened, in characters. */
const longValue = 300;

export function SettingList({ lines }: { lines: readonly SettingLine[] }) {
  if (lines.length > plainUpTo) return <VirtualList lines={lines} />;
  return (
    <div className="rounded-lg border border-line bg-surface" data-testid="config-list">
      {lines.map((line) => (
        <Line key={keyOf(line)} line={line} />
      ))}
    </div>
  );
}

function keyOf(line: SettingLine): string {
  return line.kind === 'section' ? `section ${line.name}` : line.setting.path;
}

function VirtualList({ lines }: { lines: readonly SettingLine[] }) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 37,
    overscan: 12,
    getItemKey: (index) => {
      const line = lines[index];
      return line === undefined ? index : keyOf(line);
    },
  });
  return (
    <section
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      aria-label="Settings"
      className="h-[calc(100dvh-18rem)] min-h-80 overflow-auto rounded-lg border border-line bg-surface"
      data-testid="config-list"
    >
      <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          return (
            line && (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Line line={line} />
              </div>
            )
          );
        })}
      </div>
    </section>
  );
}

function Line({ line }: { line: SettingLine }) {
  if (line.kind === 'section') {
    return (
      <h2
        className="flex items-baseline gap-2 border-b border-line bg-sunken px-4 py-2 text-sm font-semibold"
        data-testid="config-section"
      >
        {line.name} <span className="text-xs font-normal text-ink-soft tabular-nums">{line.count}</span>
      </h2>
    );
  }
  const { path, value, origin } = line.setting;
  const kind = originOf(origin);
  return (
    <div
      className="grid grid-cols-1 gap-x-4 gap-y-0.5 border-b border-line px-4 py-2 md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)_minmax(0,1fr)] 2xl:grid-cols-[minmax(0,2fr)_minmax(0,4fr)_minmax(0,1fr)]"
      data-testid="config-setting"
    >
      <span className="font-mono text-xs leading-5 break-words">{path}</span>
      <Value text={value} />
      <span
        className={cn(
          'text-xs leading-5 break-words md:text-right',
          kind === 'built-in' ? 'text-ink-soft' : 'font-medium text-accent',
        )}
      >
        {origin}
      </span>
    </div>
  );
}

function Value({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > longValue || text.split('\n', 5).length > 4;
  return (
    <div className="min-w-0">
      <p
        className={cn('font-mono text-xs leading-5 break-words whitespace-pre-wrap', long && !whole && 'line-clamp-3')}
      >
        {text === '' ? (
          <span className="text-ink-soft">(empty)</span>
        ) : long && !whole ? (
          text.slice(0, 4 * longValue)
        ) : (
          text
        )}
      </p>
      {long && (
        <Button variant="link" size="sm" className="h-6 px-0" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : 'Show all'}
        </Button>
      )}
    </div>
  );
}
