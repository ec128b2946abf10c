/** Walks a page with the Tab key, and compares where it came with what there is to reach. */
import type { Page } from 'playwright-core';

export interface Walk {
  /** How many places in the tab order there were. */
  stops: number;
  /** What can be clicked and was not reached, neither by itself nor as part of a widget that arrows walk. */
  unreached: string[];
  /** What had the focus without anybody seeing it: no ring, or hidden behind something. */
  unseen: string[];
}

declare global {
  interface Window {
    /** What the walk has to reach, and what it did. */
    walk: { wanted: Element[]; reached: Set<Element>; unseen: string[] };
  }
}

/** More stops than any page has. */
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
  (document.activeElement as HTMLElement | null)?.blur();
}

/** Notes where the focus is. False when it left the page or went round. */
function step(): boolean {
  const { reached, unseen } = window.walk;
  const focused = document.activeElement;
  if (focused === null || focused === document.body || reached.has(focused)) return false;
  reached.add(focused);

  const rings = (element: Element) => {
    const { outlineStyle, outlineWidth, opacity } = getComputedStyle(element);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 && opacity !== '0';
  };
  // A radio button lies unseen in its label, and a tree shows the ring at its active row.
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
  // One place in the tab order stands for the whole of these; arrows walk what is in them.
  const widget = (element: Element): unknown => {
    if (element instanceof HTMLInputElement && element.type === 'radio') return element.name;
    // A row of the timeline; what an open row holds is reached by Tab.
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
