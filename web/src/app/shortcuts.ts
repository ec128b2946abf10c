/**
 * Keys that work on the whole page. A shortcut is written as people type it: `mod+k` (⌘ on a Mac, Ctrl elsewhere), `?`,
 * or `g s` for one key after the other. Keys without ⌘ or Ctrl are never taken while somebody types, and can be
 * switched off, for those who speak to their computer or strike keys by accident (WCAG 2.1.4).
 */
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import { Stored, useStored } from '@/ui/stored';
import { Registry, useOffer } from './registry';

export interface Shortcut {
  keys: string;
  label: string;
  /** The heading in the help under which it stands. */
  group: string;
  /** Whether holding the key down goes on doing it. */
  repeat?: boolean;
  run: () => void;
}

const ShortcutsContext = createContext(new Registry<Shortcut>());

export const singleKeys = new Stored<'on' | 'off'>('tarsy.shortcuts', ['on', 'off']);

/** Takes these keys while the caller is mounted. Of two that want the same, the one that came later has it. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  useOffer(useContext(ShortcutsContext), shortcuts);
}

export function useAllShortcuts(): readonly Shortcut[] {
  const registry = useContext(ShortcutsContext);
  return useSyncExternalStore(registry.subscribe, registry.snapshot);
}

/** What of a key press matters here. */
export type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** The name of a pressed key as shortcuts write it; empty for one that no shortcut can have. */
export function keyName(press: Press): string {
  if (press.key.length !== 1) return '';
  const letter = /^[a-z]$/i.test(press.key);
  if ((press.metaKey || press.ctrlKey) && !press.altKey && !press.shiftKey) return `mod+${press.key.toLowerCase()}`;
  if (press.metaKey) return '';
  // Signs such as ? and / need Shift or AltGr on many keyboards, and AltGr is reported as Ctrl and Alt.
  if (letter && (press.ctrlKey || press.altKey || press.shiftKey)) return '';
  return letter ? press.key.toLowerCase() : press.key;
}

/** Finds the shortcut that a run of key presses means. */
export class Matcher {
  private pending = '';
  private lastAt = 0;

  /** `patience` is how many milliseconds may lie between two keys of one shortcut. */
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

/** What somebody types into a field that is not there yet: a dialog whose program is loaded. */
export class Typeahead {
  private text: string | undefined;

  /** Keeps what is typed from now on. */
  begin(): void {
    this.text ??= '';
  }

  /** Ends it, and returns what was typed. */
  take(): string {
    const typed = this.text ?? '';
    this.text = undefined;
    return typed;
  }

  /** Takes a key, and reports whether it was meant for the field. */
  press(event: Press): boolean {
    if (this.text === undefined || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'Backspace') this.text = this.text.slice(0, -1);
    else if (event.key.length === 1) this.text += event.key;
    else return false;
    return true;
  }
}

const textless = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit'];

/** Whether the keys belong to what has the focus: a field, or a menu in which letters choose. */
export function takesKeys(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !textless.includes(target.type);
  return (
    target.isContentEditable ||
    target.closest('textarea, select, [contenteditable="true"], [role="menu"], [role="listbox"], [role="dialog"]') !==
      null
  );
}

/** Listens to the keyboard for everybody; the frame calls it once. What is typed ahead is no shortcut. */
export function useKeyboard(ahead: Typeahead): void {
  const registry = useContext(ShortcutsContext);
  const single = useStored(singleKeys);
  useEffect(() => {
    const matcher = new Matcher();
    const onKeyDown = (event: KeyboardEvent) => {
      // A modifier on its own is part of the key that follows, not a key that breaks a run.
      if (
        event.defaultPrevented ||
        event.isComposing ||
        ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta'].includes(event.key)
      )
        return;
      if (!takesKeys(event.target) && ahead.press(event)) {
        event.preventDefault();
        return;
      }
      const key = keyName(event);
      if (!key.startsWith('mod+') && (single === 'off' || takesKeys(event.target))) return;
      const found = matcher.press(key, event.timeStamp, registry.snapshot());
      if (found === undefined || (event.repeat && !found.repeat)) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [registry, single, ahead]);
}
