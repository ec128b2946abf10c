import { cn } from './cn';

const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');

/** A shortcut as it stands on this computer's keys: `mod+k` is ⌘ K or Ctrl K, `g s` is g, then s. */
export function Kbd({ keys, className }: { keys: string; className?: string }) {
  const parts = keys.startsWith('mod+') ? [mac ? '⌘' : 'Ctrl', keys.slice(4).toUpperCase()] : keys.split(' ');
  return (
    <span className={cn('inline-flex items-center gap-1', className)}>
      {parts.map((part) => (
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
