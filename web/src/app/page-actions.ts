/**
 * What the present page lets people do, read from the page itself: each button, field and choice that is in it has a line in
 * the palette, so none can be forgotten. What has a command of its own, or belongs to one row of many, is left out with
 * `data-palette="none"`. What has no room on a narrow screen is marked with `data-palette="folded"` there, and counts though it
 * is hidden.
 */
import type { Choice } from './choice';

const controls = 'button, a[data-button], input, select, textarea';

/** The actions under `root`, those that `named` has already left out. A name that occurs twice needs its surroundings, and is left out. */
export function pageActions(root: Element | null, named: readonly string[]): Choice[] {
  const found = [...(root?.querySelectorAll<HTMLElement>(controls) ?? [])]
    .filter((control) => !control.closest('[data-palette=none], [role=treeitem]') && isUsable(control))
    .flatMap(actionsOf);
  const times = new Map<string, number>();
  for (const { label } of found) times.set(label, (times.get(label) ?? 0) + 1);
  return found
    .filter(({ label }) => label !== '' && times.get(label) === 1 && !named.includes(label))
    .map((action) => ({ ...action, id: `here ${action.label}` }));
}

function isUsable(control: HTMLElement): boolean {
  return (
    !control.matches(':disabled, [aria-disabled=true], [role=tab], [type=hidden], [type=file]') &&
    (control.checkVisibility({ visibilityProperty: true }) || control.closest('[data-palette=folded]') !== null)
  );
}

type Action = Pick<Choice, 'label' | 'run'>;

function actionsOf(control: HTMLElement): Action[] {
  const name = nameOf(control);
  if (name === '') return [];
  if (control instanceof HTMLSelectElement) {
    return [...control.options]
      .filter((option) => !option.selected && !option.disabled)
      .map((option) => ({ label: `${name}: ${option.text.trim()}`, run: () => choose(control, option.value) }));
  }
  if (control instanceof HTMLInputElement && control.type === 'radio') {
    const legend = control.closest('fieldset')?.querySelector('legend')?.textContent?.trim();
    const label = legend ? `${legend}: ${name}` : name;
    return control.checked ? [] : [{ label, run: () => control.click() }];
  }
  const clicked = control.matches('button, a, [type=checkbox], [type=button], [type=submit]');
  if (!clicked) return [{ label: name, run: () => inSight(control, () => control.focus()) }];
  const isMenu = control.getAttribute('aria-haspopup') === 'menu';
  return [{ label: name, run: isMenu ? () => inSight(control, () => open(control)) : () => click(control) }];
}

/** A hidden field takes no focus and a hidden menu has no place: the button that unfolds them is pressed first. */
function inSight(control: HTMLElement, act: () => void): void {
  if (control.checkVisibility()) {
    act();
    return;
  }
  const folded = control.closest('[data-palette=folded]');
  if (folded?.id) document.querySelector<HTMLElement>(`[aria-controls="${CSS.escape(folded.id)}"]`)?.click();
  requestAnimationFrame(act);
}

function click(control: HTMLElement): void {
  control.scrollIntoView({ block: 'nearest' });
  control.focus({ preventScroll: true });
  control.click();
}

/** A menu opens before a click is one; with the keyboard it opens at once. */
function open(control: HTMLElement): void {
  control.focus();
  control.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
}

/** Chooses as a person does, so that whoever listens learns of it. */
function choose(select: HTMLSelectElement, value: string): void {
  select.focus();
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

/** The name that a screen reader gives it. */
function nameOf(control: HTMLElement): string {
  const label = control.getAttribute('aria-label');
  if (label) return label.trim();
  const labels = [
    ...(control.getAttribute('aria-labelledby')?.split(/\s+/) ?? []).map((id) => document.getElementById(id)),
    ...('labels' in control ? ((control.labels as NodeListOf<HTMLElement> | null) ?? []) : []),
  ].filter((element) => element !== null);
  const texts = labels.length > 0 ? labels.map(textOf) : [textOf(control)];
  return texts.join(' ').replace(/\s+/g, ' ').trim() || control.getAttribute('title')?.trim() || '';
}

/** The text without what is hidden from screen readers, such as icons, without keys, and without the fields in it. */
function textOf(element: Element): string {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest('[aria-hidden=true], select, textarea, kbd')
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  let text = '';
  let parent: Node | null = null;
  while (walker.nextNode()) {
    // Parts that look apart are words apart, whether or not there is a space between them.
    text += (walker.currentNode.parentNode === parent ? '' : ' ') + walker.currentNode.textContent;
    parent = walker.currentNode.parentNode;
  }
  return text;
}
