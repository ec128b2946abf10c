/**
 * The actions of the current page, read from its DOM: each button, field and choice has an entry in the palette, so
 * none can be forgotten. `data-palette="none"` excludes controls that have their own command or belong to one row of
 * many. `data-palette="folded"` marks controls that are hidden on a narrow screen but are still included.
 */
import type { Choice } from './choice';

const controls = 'button, a[data-button], input, select, textarea';

/**
 * Returns the actions under `root` except those in `named`. A name that occurs more than once is ambiguous without its
 * context and is omitted.
 */
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
  if (!clicked) return [{ label: name, run: () => withVisible(control, () => control.focus()) }];
  const isMenu = control.getAttribute('aria-haspopup') === 'menu';
  return [{ label: name, run: isMenu ? () => withVisible(control, () => open(control)) : () => click(control) }];
}

/**
 * Runs `act` with the control visible: a hidden field cannot be focused and a hidden menu has no position, so the
 * button that unfolds them is clicked first.
 */
function withVisible(control: HTMLElement, act: () => void): void {
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

/** Opens a menu by keyboard: menus open on pointer down, which a click() does not send. */
function open(control: HTMLElement): void {
  control.focus();
  control.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
}

/** Changes a select as a person does, so that its listeners run. */
function choose(select: HTMLSelectElement, value: string): void {
  select.focus();
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

/** Returns the accessible name of a control. */
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

/** Returns the text without content hidden from screen readers (such as icons), keys, and nested fields. */
function textOf(element: Element): string {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest('[aria-hidden=true], select, textarea, kbd')
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  let text = '';
  let parent: Node | null = null;
  while (walker.nextNode()) {
    // Separates the words of adjacent elements, even if no space is between them.
    text += (walker.currentNode.parentNode === parent ? '' : ' ') + walker.currentNode.textContent;
    parent = walker.currentNode.parentNode;
  }
  return text;
}
