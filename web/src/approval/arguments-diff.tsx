/** The line-by-line difference between the model's arguments and the edited ones. */
import { useMemo } from 'react';
import { lineDiff } from '@/text/line-diff';
import { cn } from '@/ui/cn';

const looks = {
  same: { sign: ' ', className: 'text-ink-soft', word: '' },
  removed: { sign: '-', className: 'bg-bad-soft text-bad', word: 'Removed: ' },
  added: { sign: '+', className: 'bg-good-soft text-good', word: 'Added: ' },
} as const;

export function ArgumentsDiff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => {
    let number = 0;
    return lineDiff(before, after).map((line) => ({ ...line, number: number++ }));
  }, [before, after]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div role="group" aria-label="Changes" data-testid="arguments-diff">
      <p className="mb-1 text-xs font-medium text-ink-soft">Changes</p>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-72 overflow-auto rounded-md border border-line bg-sunken py-1 font-mono text-xs leading-[1.125rem] [overflow-wrap:anywhere] whitespace-pre-wrap"
      >
        {lines.map(({ kind, text, number }) => (
          <span key={number} className={cn('block pr-2 pl-6 -indent-4', looks[kind].className)} data-kind={kind}>
            <span aria-hidden>{looks[kind].sign} </span>
            <span className="sr-only">{looks[kind].word}</span>
            {text}
          </span>
        ))}
      </pre>
    </div>
  );
}
