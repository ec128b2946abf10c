/** A text with its evidence highlighted: plain text, never Markdown, so that the offsets stay valid. */
import { useMemo } from 'react';
import { cn } from '@/ui/cn';
import { type Passage, piecesOf } from './passages';

export function MarkedText({
  text,
  passages,
  active,
  onActive,
  onChoose,
  labelOf,
  className,
}: {
  text: string;
  passages: readonly Passage[];
  /** The id whose passages are emphasized. */
  active?: string;
  /** Called when the pointer or the focus enters or leaves a passage. */
  onActive?: (id: string | undefined) => void;
  /** Called when a passage is clicked, with what it is evidence for. */
  onChoose?: (id: string) => void;
  /** Describes what a passage is evidence for. */
  labelOf?: (id: string) => string;
  className?: string;
}) {
  const pieces = useMemo(() => piecesOf(text, passages), [text, passages]);
  return (
    <p className={cn('leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap', className)}>
      {pieces.map((piece) => {
        const [first] = piece.ids;
        if (first === undefined) return <span key={piece.start}>{piece.text}</span>;
        const lit = active !== undefined && piece.ids.includes(active);
        const chosen = lit ? active : first;
        const look = cn(
          'rounded-sm transition-colors',
          lit
            ? 'bg-accent text-accent-ink'
            : 'bg-accent-soft text-ink underline decoration-accent decoration-2 underline-offset-4',
        );
        if (onChoose === undefined) {
          return (
            <mark key={piece.start} className={look} data-testid="evidence-mark">
              {piece.text}
            </mark>
          );
        }
        return (
          <mark
            key={piece.start}
            className={look}
            data-testid="evidence-mark"
            data-evidence={piece.ids.join(' ')}
            data-lit={lit || undefined}
          >
            <a
              href={`#entity-${chosen}`}
              title={labelOf?.(chosen)}
              onPointerEnter={() => onActive?.(chosen)}
              onPointerLeave={() => onActive?.(undefined)}
              onFocus={() => onActive?.(chosen)}
              onBlur={() => onActive?.(undefined)}
              onClick={(event) => {
                event.preventDefault();
                onChoose(chosen);
              }}
            >
              {piece.text}
            </a>
          </mark>
        );
      })}
    </p>
  );
}
