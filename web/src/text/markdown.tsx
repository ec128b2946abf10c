/**
 * Text of models and tools as Markdown. What renders it is the largest part of the page, so it is loaded after what a reader
 * looks for first; until then the text is there as it is.
 */
import { useDeferredValue, useEffect, useSyncExternalStore } from 'react';
import { cn } from '@/ui/cn';
import { withoutMarks } from './citation';
import type { RenderedMarkdown } from './rendered';
import { visible } from './visible';

/** Where citations lead: the session, and the event of each of its tool calls by the call's number. */
export interface Calls {
  sessionId?: string;
  calls?: ReadonlyMap<string, string>;
}

/** `streaming` says that more of the text comes. */
export interface MarkdownProps extends Calls {
  text: string;
  streaming?: boolean;
  className?: string;
}

let renderer: typeof RenderedMarkdown | undefined;
let loading: Promise<void> | undefined;
const waiting = new Set<() => void>();

/** Loads the renderer. Without it, as on a connection that broke, the text stays readable, and the next text tries again. */
export function loadMarkdown(): Promise<void> {
  if (loading === undefined) {
    loading = import('./rendered').then(
      (module) => {
        renderer = module.RenderedMarkdown;
        for (const tell of waiting) tell();
      },
      () => {
        loading = undefined;
      },
    );
  }
  return loading;
}

function wait(tell: () => void): () => void {
  waiting.add(tell);
  return () => waiting.delete(tell);
}

export function Markdown(props: MarkdownProps) {
  const loaded = useSyncExternalStore(
    wait,
    () => renderer,
    () => renderer,
  );
  // When it comes, all texts of the page wait for it: React draws them in pieces, and the page answers in between.
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
