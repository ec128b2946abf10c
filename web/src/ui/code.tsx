import { cn } from './cn';

/** A command or another short piece of code. */
export function Code({ text, className }: { text: string; className?: string }) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard.
      tabIndex={0}
      className={cn(
        'overflow-x-auto rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs text-ink',
        className,
      )}
    >
      {text}
    </pre>
  );
}
