import { useMemo, useState } from 'react';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { beginning, payloadOf, shownLength } from './payload';

/** A text of a tool, as it is: JSON set out in lines, long ones in part until somebody asks for all. */
export function PayloadView({ label, value, empty }: { label: string; value: unknown; empty?: string }) {
  const [all, setAll] = useState(false);
  const payload = useMemo(() => payloadOf(value), [value]);
  const shown = all ? payload.text : beginning(payload.text);
  const rest = payload.text.length - shown.length;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div role="group" aria-label={label} className="min-w-0">
      <div className="flex h-8 items-center gap-2">
        <span className="text-xs font-medium text-ink-soft">{label}</span>
        {payload.text !== '' && <CopyButton text={payload.text} label={`Copy ${label.toLowerCase()}`} />}
      </div>
      {payload.text === '' ? (
        <p className="text-ink-faint">{empty ?? 'Nothing.'}</p>
      ) : (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="max-h-112 overflow-auto rounded-md border border-line bg-sunken p-2 font-mono text-xs leading-[1.125rem] [overflow-wrap:anywhere] whitespace-pre-wrap"
        >
          {shown}
        </pre>
      )}
      {rest > 0 && (
        <Button variant="link" size="sm" className="px-0" onClick={() => setAll(true)}>
          Show all {payload.text.length.toLocaleString()} characters
          <span className="sr-only"> (the first {shownLength.toLocaleString()} are shown)</span>
        </Button>
      )}
    </div>
  );
}
