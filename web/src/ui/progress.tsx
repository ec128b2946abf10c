import type { Tone } from './badge';
import { cn } from './cn';

export interface Progress {
  total: number;
  /** Finished steps; while something runs, the next one is the current step. */
  done: number;
  tone: Tone;
  label: string;
}

/**
 * The most segments of a bar. More steps are scaled to this many, because smaller segments would be indistinguishable.
 */
const mostPieces = 12;

/** The progress through a known number of steps. `label` is the text alternative of the bar. */
export function Steps({ total, done, tone, label, className }: Progress & { className?: string }) {
  const fill = {
    running: 'bg-running',
    good: 'bg-good',
    found: 'bg-found',
    bad: 'bg-bad',
    warn: 'bg-warn',
    idle: 'bg-line-strong',
  }[tone];
  const pieces = total > mostPieces ? mostPieces : total;
  const filled = total > mostPieces ? Math.floor((done / total) * mostPieces) : done;
  const stopped = tone === 'bad' || tone === 'warn';
  return (
    <span className={cn('flex items-center', className)}>
      <span className="flex w-full max-w-24 gap-0.5" aria-hidden>
        {Array.from({ length: pieces }, (_, piece) => piece).map((piece) => (
          <span
            key={piece}
            className={cn(
              'h-1.5 min-w-0 flex-1 rounded-full bg-idle-soft',
              piece < filled && (stopped ? 'bg-line-strong' : fill),
              piece === filled && tone === 'running' && 'animate-pulse bg-running/60',
              piece === filled && stopped && fill,
            )}
          />
        ))}
      </span>
      <span className="sr-only">{label}</span>
    </span>
  );
}
