/** Texts of alerts and tools, unmodified except that JSON is indented. Long ones are shown in part until expanded. */
import { useMemo, useState } from 'react';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { beginning } from './format';
import { payloadOf } from './payload';

/** A text node of megabytes would freeze the page, so the rest is rendered on request. */
const shownLength = 20_000;

export function PayloadView({ label, value, empty }: { label: string; value: unknown; empty?: string }) {
  const { text } = useMemo(() => payloadOf(value), [value]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div role="group" aria-label={label} className="min-w-0">
      <div className="flex h-8 items-center gap-2">
        <span className="text-xs font-medium text-ink-soft">{label}</span>
        {text !== '' && <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />}
      </div>
      {text === '' ? <p className="text-ink-faint">{empty ?? 'Empty.'}</p> : <PlainText text={text} />}
    </div>
  );
}

/** The text alone, for places with their own label and copy button. */
export function PayloadText({ text, exact = false }: { text: string; exact?: boolean }) {
  // Indenting parses and serializes the JSON, which rounds long numbers.
  const shown = useMemo(() => (exact ? text : payloadOf(text).text), [text, exact]);
  return <PlainText text={shown} />;
}

function PlainText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : beginning(text, shownLength);
  return (
    <>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-112 overflow-auto rounded-md border border-line bg-sunken p-2 font-mono text-xs leading-[1.125rem] [overflow-wrap:anywhere] whitespace-pre-wrap"
      >
        {shown}
      </pre>
      {shown.length < text.length && (
        <Button variant="link" size="sm" className="px-0" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString()} characters
          <span className="sr-only"> (the first {shownLength.toLocaleString()} are shown)</span>
        </Button>
      )}
    </>
  );
}
