import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button';

/** Copies a text, which can be computed on demand, and confirms it. */
export function CopyButton({
  text,
  label,
  showLabel = false,
}: {
  text: string | (() => string | Promise<string>);
  label: string;
  showLabel?: boolean;
}) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 2000);
    return () => clearTimeout(timer);
  }, [state]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      setState('done');
    } catch {
      setState('failed');
    }
  };
  const caption =
    state === 'done' ? 'Copied' : state === 'failed' ? 'Copy failed. Allow clipboard access and try again.' : label;
  return (
    <Button variant="ghost" size={showLabel ? 'sm' : 'icon'} aria-label={caption} title={caption} onClick={copy}>
      {state === 'done' ? <Check aria-hidden /> : <Copy aria-hidden />}
      {showLabel && <span aria-live="polite">{caption}</span>}
    </Button>
  );
}
