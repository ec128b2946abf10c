/**
 * Keyboard shortcuts of the whole page, written as people type them: `mod+k` (⌘ on a Mac, Ctrl elsewhere), `?`, or
 * `g s` for one key after another. Keys without ⌘ or Ctrl are ignored while a field has the focus, and people who use
 * speech input or hit keys by accident can turn them off (WCAG 2.1.4).
 */
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import { Stored, useStored } from '@/ui/stored';
import { Registry, useOffer } from './registry';

export interface Shortcut {
  keys: string;
  label: string;
  /** The heading in the help dialog. */
  group: string;
  /** Whether holding the key down repeats it. */
  repeat?: boolean;
  run: () => void;
}

const ShortcutsContext = createContext(new Registry<Shortcut>());

export const singleKeys = new Stored<'on' | 'off'>('tarsy.shortcuts', ['on', 'off']);

/** Handles these keys while the caller is mounted. Of two callers with the same keys, the one mounted later wins. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useOffer(useContext(ShortcutsContext), shortcuts);
}

export function useAllShortcuts(): readonly Shortcut[] {
  const registry = useContext(ShortcutsContext);
  return useSyncExternalStore(registry.subscribe, registry.snapshot);
}

/** The parts of a key press that matter here. */
export type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Returns the name of a pressed key as shortcuts write it; empty if no shortcut can use it. */
export function keyName(press: Press): string {
  if (press.key.length !== 1) return '';
  const letter = /^[a-z]$/i.test(press.key);
  if ((press.metaKey || press.ctrlKey) && !press.altKey && !press.shiftKey) return `mod+${press.key.toLowerCase()}`;
  if (press.metaKey) return '';
  // Characters such as ? and / need Shift or AltGr on many keyboards, and AltGr is reported as Ctrl and Alt.
  if (letter && (press.ctrlKey || press.altKey || press.shiftKey)) return '';
  return letter ? press.key.toLowerCase() : press.key;
}

/** Finds the shortcut for a sequence of key presses. */
export class Matcher {
  private pending = '';
  private lastAt = 0;

  /** `patience` is the longest pause between two keys of one shortcut, in milliseconds. */
  constructor(private readonly patience = 1500) {}

  press(key: string, at: number, shortcuts: readonly Shortcut[]): Shortcut | undefined {
    const before = at - this.lastAt <= this.patience ? this.pending : '';
    this.lastAt = at;
    this.pending = '';
    if (key === '') return undefined;
    for (const typed of before === '' ? [key] : [`${before} ${key}`, key]) {
      const found = shortcuts.find((shortcut) => shortcut.keys === typed);
      if (found !== undefined) return found;
      if (shortcuts.some((shortcut) => shortcut.keys.startsWith(`${typed} `))) {
        this.pending = typed;
        return undefined;
      }
    }
    return undefined;
  }
}

/** Buffers keys typed for a field that is still loading, such as that of a lazily loaded dialog. */
export class Typeahead {
  private text: string | undefined;

  /** Starts buffering. */
  begin(): void {
    this.text ??= '';
  }

  /** Stops buffering and returns the typed text. */
  take(): string {
    const typed = this.text ?? '';
    this.text = undefined;
    return typed;
  }

  /** Handles a key and reports whether it was meant for the field. */
  press(event: Press): boolean {
    if (this.text === undefined || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'Backspace') this.text = this.text.slice(0, -1);
    else if (event.key.length === 1) this.text += event.key;
    else return false;
    return true;
  }
}

const textless = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit'];

/** Reports whether the focused element handles the keys: a field, or a menu that selects by letter. */
export function capturesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !textless.includes(target.type);
  return (
    target.isContentEditable ||
    target.closest('textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"]') !==
      null
  );
}

/** Handles the keyboard for all components; only the frame calls it. Keys typed ahead trigger no shortcut. */
export function useKeyboard(ahead: Typeahead): void {
  const registry = useContext(ShortcutsContext);
  const single = useStored(singleKeys);
  useEffect(() => {
    const matcher = new Matcher();
    const onKeyDown = (event: KeyboardEvent) => {
      // A modifier is part of the following key; it does not interrupt a sequence.
      if (
        event.defaultPrevented ||
        event.isComposing ||
        ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'].includes(event.key)
      )
        return;
      if (!capturesKeys(event.target) && ahead.press(event)) {
        event.preventDefault();
        return;
      }
      const key = keyName(event);
      if (!key.startsWith('mod+') && (single === 'off' || capturesKeys(event.target))) return;
      const found = matcher.press(key, event.timeStamp, registry.snapshot());
      if (found === undefined || (event.repeat && !found.repeat)) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [registry, single, ahead]);
}
