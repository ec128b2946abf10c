/** Opens the cited tool call next to the text: the address names the call, and the history entry contains the claim. */
import type { AnyRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import { claimAt } from './claim';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The sentence whose evidence is shown. */
    claim?: string;
    /** Whether going back closes the panel that the entry opened. */
    fromCitation?: boolean;
  }
}

/** Handles a plain click on a citation; other clicks, such as those that open a tab, follow the link. */
export function openEvidence(event: MouseEvent<HTMLElement>, router: AnyRouter, sessionId: string, call: string): void {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { search, state } = router.state.location;
  // The panel stays open between citations, and one step back closes it.
  const open = search.call !== undefined;
  void router.navigate({
    to: '/sessions/$sessionId',
    params: { sessionId },
    search: { ...search, call },
    state: { claim: claimOf(event.currentTarget), fromCitation: open ? state.fromCitation : true },
    replace: open,
    resetScroll: false,
  });
}

/** Returns the sentence around a citation, from its paragraph or cell. */
function claimOf(mark: HTMLElement): string {
  const block = mark.closest('p, li, td, th, h3, blockquote') ?? mark.parentElement;
  if (!block) return '';
  const textOf = (set: (range: Range) => void) => {
    const range = document.createRange();
    range.selectNodeContents(block);
    set(range);
    const part = range.cloneContents();
    for (const other of part.querySelectorAll('[data-citation]')) other.remove();
    return part.textContent ?? '';
  };
  return claimAt(
    textOf((range) => range.setEndBefore(mark)),
    textOf((range) => range.setStartAfter(mark)),
  );
}
