import type { Tone } from './badge';
import { cn } from './cn';

export interface Progress {
  total: number;
  /** Finished steps; the one after them is the present one where something runs. */
  done: number;
  tone: Tone;
  label: string;
}

/** From how many steps on the bar is one piece: smaller pieces would look the same. */
const mostPieces = 12;

/** How far something with a known number of steps has come. The bar is for the eye, `label` says the same in words. */
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
