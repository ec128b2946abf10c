/** Walks through a page with the Tab key, and compares the reached elements with all that should be reachable. */
import type { Page } from 'playwright-core';

export interface Walk {
  /** The number of tab stops. */
  stops: number;
  /** Clickable elements that were not reached, either directly or inside a widget with arrow keys. */
  unreached: string[];
  /** Elements that had the focus without visible indication: no ring, or covered by something. */
  unseen: string[];
}

declare global {
  interface Window {
    /** The elements to reach, and those reached. */
    walk: { wanted: Element[]; reached: Set<Element>; unseen: string[] };
  }
}

/** More tab stops than any page has. */
const most = 400;

export async function walk(page: Page): Promise<Walk> {
  await page.evaluate(begin);
  let stops = 0;
  for (; stops < most; stops++) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate(step))) break;
  }
  return { stops, ...(await page.evaluate(end)) };
}

function begin(): void {
  const controls =
    'a[href], button, input, select, textarea, summary, [tabindex="0"], [role=button], [role=tab], [role=treeitem], [role=link]';
  const wanted = [...document.querySelectorAll(controls)].filter(
    (element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.matches(':disabled, [aria-disabled=true]') &&
      element.closest('[aria-hidden=true], [inert]') === null,
  );
  window.walk = { wanted, reached: new Set(), unseen: [] };
  // Tab continues from the last click, even after a blur.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
}

/** Records the focused element. Returns false when the focus leaves the page or returns to a reached element. */
function step(): boolean {
  const { reached, unseen } = window.walk;
  const focused = document.activeElement;
  if (focused === null || focused === document.body || reached.has(focused)) return false;
  reached.add(focused);

  const rings = (element: Element) => {
    const { outlineStyle, outlineWidth, opacity } = getComputedStyle(element);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 && opacity !== '0';
  };
  // A radio button is invisible inside its label, and a tree shows the ring on its active row.
  const shown = [focused, focused.closest('label'), ...focused.querySelectorAll('[data-active]')];
  const ringed = shown.some((element) => element !== null && rings(element));
  const { left, right, top, bottom } = focused.getBoundingClientRect();
  const inside = (low: number, high: number, room: number) => {
    const [from, to] = [Math.max(low, 0), Math.min(high, room)];
    return [0.1, 0.5, 0.9].map((share) => from + (to - from) * share);
  };
  const uncovered = inside(left, right, innerWidth).some((x) =>
    inside(top, bottom, innerHeight).some((y) => {
      const there = document.elementFromPoint(x, y);
      return there !== null && (focused.contains(there) || there.contains(focused));
    }),
  );
  if (!ringed || !uncovered) unseen.push(`${ringed ? 'covered' : 'no ring'}: ${focused.outerHTML.slice(0, 200)}`);
  return true;
}

function end(): Omit<Walk, 'stops'> {
  const { wanted, reached, unseen } = window.walk;
  // One tab stop covers each of these widgets; arrow keys reach the rest.
  const widget = (element: Element): unknown => {
    if (element instanceof HTMLInputElement && element.type === 'radio') return element.name;
    // A row of the timeline; the content of an open row is reached with Tab.
    if (element.matches('[data-stop]')) return element.closest('ul');
    if (element.matches('[data-card-title]')) return element.closest('[data-testid=board]');
    return element.closest('[role=tablist], [role=tree], [data-testid=sessions-list]');
  };
  const widgets = new Set([...reached].map(widget));
  widgets.delete(null);
  const unreached = wanted.filter(
    (element) => element.isConnected && !reached.has(element) && !widgets.has(widget(element)),
  );
  return { unreached: unreached.map((element) => element.outerHTML.slice(0, 200)), unseen };
}
