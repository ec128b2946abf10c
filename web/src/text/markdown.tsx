/**
 * Renders texts of models and tools as Markdown. The renderer is the largest part of the dashboard, so it is loaded
 * after the content that a reader looks for first; until then the plain text is shown.
 */
import { useDeferredValue, useEffect, useSyncExternalStore } from 'react';
import { cn } from '@/ui/cn';
import { withoutMarks } from './citation';
import type { RenderedMarkdown } from './rendered';
import { visible } from './visible';

/** The targets of citations: the session, and the event of each of its tool calls by the call's number. */
export interface Calls {
  sessionId?: string;
  calls?: ReadonlyMap<string, string>;
}

/** `streaming` means that more text follows. */
export interface MarkdownProps extends Calls {
  text: string;
  streaming?: boolean;
  className?: string;
}

let renderer: typeof RenderedMarkdown | undefined;
let loading: Promise<void> | undefined;
const listeners = new Set<() => void>();

/**
 * Loads the renderer. If that fails, for example because the connection is lost, the text stays readable and the next
 * text retries.
 */
export function loadMarkdown(): Promise<void> {
  if (loading === undefined) {
    loading = import('./rendered').then(
      (module) => {
        renderer = module.RenderedMarkdown;
        for (const listener of listeners) listener();
      },
      () => {
        loading = undefined;
      },
    );
  }
  return loading;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Markdown(props: MarkdownProps) {
  const loaded = useSyncExternalStore(
    subscribe,
    () => renderer,
    () => renderer,
  );
  // All texts of the page re-render when the renderer arrives: deferring lets React do it in pieces and keeps the page
  // responsive.
  const Renderer = useDeferredValue(loaded);
  useEffect(() => {
    void loadMarkdown();
  }, []);
  if (Renderer) return <Renderer {...props} />;
  return (
    <div className={cn('break-words whitespace-pre-wrap [overflow-wrap:anywhere]', props.className)}>
      {visible(withoutMarks(props.text))}
    </div>
  );
}
