/** A tool's result as numbered lines, with those marked that a claim is about. Long results show what is around them. */
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { counted } from '@/text/format';
import { payloadOf } from '@/text/payload';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { relevantLines } from './relevant';

/** Results of more lines are shown in part. */
const shortResult = 200;
/** Lines shown before and after each marked one, and at the beginning. */
const around = 10;
/** A line of megabytes makes the page stand still. */
const longestLine = 2_000;
const mostDrawn = 5_000;

/** The lines to draw: all of a short result, else the beginning and what is around the marked lines. */
export function shownLines(total: number, marked: readonly number[]): number[] {
  if (total <= shortResult) return Array.from({ length: total }, (_, line) => line);
  const shown = new Set<number>();
  for (const at of [0, ...marked]) {
    for (let line = Math.max(0, at - around); line <= Math.min(total - 1, at + around); line++) shown.add(line);
  }
  return [...shown].sort((a, b) => a - b);
}

export function ResultLines({ text, claim }: { text: string; claim: string }) {
  const lines = useMemo(() => payloadOf(text).text.split('\n'), [text]);
  const marked = useMemo(() => relevantLines(lines, claim), [lines, claim]);
  const [all, setAll] = useState(false);
  const shown = useMemo(
    () => (all ? lines.slice(0, mostDrawn).map((_, line) => line) : shownLines(lines.length, marked)),
    [all, lines, marked],
  );
  const [at, setAt] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const target = marked[at];
  useEffect(() => {
    if (target === undefined) return;
    const line = list.current?.querySelector(`[data-line="${target}"]`);
    // Not scrollIntoView: it would also scroll the panel, which has nothing to scroll to.
    const scroller = list.current?.closest('[data-scroller]');
    if (!line || !scroller) return;
    const offset = line.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollTop += offset - scroller.clientHeight / 2;
  }, [target]);
  if (text === '') return <p className="text-ink-faint">The tool returned nothing.</p>;
  const set = new Set(marked);
  const step = (by: number) => setAt((at + by + marked.length) % marked.length);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-label="Result">
      <div className="sticky -top-4 z-10 flex min-h-8 flex-wrap items-center gap-2 bg-surface py-1">
        <span className="text-xs font-medium text-ink-soft">Result</span>
        <CopyButton text={text} label="Copy result" />
        <span className="text-xs text-ink-soft" role="status" data-testid="evidence-matches">
          {marked.length > 0
            ? `${counted(marked.length, 'line')} of ${lines.length.toLocaleString()} ${marked.length === 1 ? 'matches' : 'match'} the claim`
            : 'No line stands out for this claim.'}
        </span>
        {marked.length > 1 && (
          <span className="flex">
            <Button variant="ghost" size="icon" aria-label="Previous match" onClick={() => step(-1)}>
              <ChevronUp aria-hidden />
            </Button>
            <Button variant="ghost" size="icon" aria-label="Next match" onClick={() => step(1)}>
              <ChevronDown aria-hidden />
            </Button>
          </span>
        )}
      </div>
      <ol ref={list} className="rounded-md border border-line bg-sunken py-1 font-mono text-xs leading-[1.125rem]">
        {shown.map((line, index) => {
          const hidden = line - (shown[index - 1] ?? -1) - 1;
          return (
            <li key={line} data-line={line} data-relevant={set.has(line) || undefined}>
              {hidden > 0 && <Gap lines={hidden} />}
              <span
                className={cn(
                  'flex gap-3 px-2',
                  set.has(line) && 'bg-warn-soft shadow-[inset_3px_0_0_var(--warn)]',
                  line === target && 'font-semibold',
                )}
              >
                <span className="w-9 shrink-0 text-right text-ink-faint tabular-nums select-none">{line + 1}</span>
                <span className="min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap">
                  {set.has(line) && <span className="sr-only">Matches the claim: </span>}
                  {(lines[line] ?? '').slice(0, longestLine) || ' '}
                  {(lines[line] ?? '').length > longestLine && '…'}
                </span>
              </span>
            </li>
          );
        })}
        {(shown.at(-1) ?? 0) < lines.length - 1 && (
          <li>
            <Gap lines={lines.length - 1 - (shown.at(-1) ?? 0)} />
          </li>
        )}
      </ol>
      {!all && shown.length < lines.length && (
        <Button variant="link" size="sm" className="mt-1 px-0" onClick={() => setAll(true)}>
          Show all {lines.length.toLocaleString()} lines
        </Button>
      )}
    </div>
  );
}

function Gap({ lines }: { lines: number }) {
  return <span className="block px-2 py-0.5 text-ink-faint italic">… {counted(lines, 'line')} not shown</span>;
}
