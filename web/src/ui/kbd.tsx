import { cn } from './cn';

const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');

/**
 * A shortcut as labelled on this computer's keyboard: `mod+k` is ⌘ K or Ctrl K, `mod+enter` is ⌘ ↵ or Ctrl ↵, `g s` is
 * g, then s.
 */
export function Kbd({ keys, className }: { keys: string; className?: string }) {
  return (
    <span className={cn('inline-flex items-center gap-1', className)}>
      {partsOf(keys).map((part) => (
        <kbd
          key={part}
          className="inline-flex h-5 min-w-5 items-center justify-center rounded border border-line bg-sunken px-1 font-sans text-xs text-ink-soft"
        >
          {part}
        </kbd>
      ))}
    </span>
  );
}

function partsOf(keys: string): string[] {
  if (!keys.startsWith('mod+')) return keys.split(' ');
  const key = keys.slice('mod+'.length);
  return [mac ? '⌘' : 'Ctrl', key === 'enter' ? '↵' : key.toUpperCase()];
}
