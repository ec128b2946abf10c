/** A collapsible text of a call: a message, arguments or a result. Always plain text, unmodified. */
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { firstLine } from '@/text/format';
import { PayloadText } from '@/text/payload-view';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';

/** Longer texts are collapsed initially. */
const longText = 1_500;

export function Block({
  title,
  note,
  text,
  open: opened,
  children,
}: {
  title: ReactNode;
  note?: ReactNode;
  text: string;
  /** Whether it is open initially; by default, short texts are. */
  open?: boolean;
  children?: ReactNode;
}) {
  const [open, setOpen] = useState(opened ?? text.length <= longText);
  const body = useId();
  return (
    <section className="rounded-md border border-line bg-surface">
      <div className="flex min-h-9 items-center gap-1 pr-1">
        <button
          type="button"
          className="flex min-h-9 min-w-0 flex-1 items-center gap-1.5 rounded-md px-2 text-left hover:bg-sunken"
          aria-expanded={open}
          aria-controls={open ? body : undefined}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight
            className={cn('size-4 shrink-0 text-ink-faint transition-transform', open && 'rotate-90')}
            aria-hidden
          />
          <span className="shrink-0 font-medium">{title}</span>
          {note && <span className="shrink-0 text-xs text-ink-faint">{note}</span>}
          {!open && <span className="min-w-0 flex-1 truncate text-ink-faint">{firstLine(text)}</span>}
        </button>
        {text !== '' && <CopyButton text={text} label="Copy text" />}
      </div>
      {open && (
        <div id={body} className="space-y-2 border-t border-line p-2">
          {text !== '' && <PayloadText text={text} />}
          {children}
        </div>
      )}
    </section>
  );
}
