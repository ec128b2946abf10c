/** What somebody has typed and not sent, kept for each session until the tab is closed. */

const key = (sessionId: string) => `tarsy.draft.${sessionId}`;

export function readDraft(sessionId: string): string {
  try {
    return sessionStorage.getItem(key(sessionId)) ?? '';
  } catch {
    return '';
  }
}

export function keepDraft(sessionId: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(key(sessionId));
    else sessionStorage.setItem(key(sessionId), text);
  } catch {
    // Storage is forbidden or full: the draft lives as long as the page.
  }
}
