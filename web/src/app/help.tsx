import { Kbd } from '@/ui/kbd';
import { Dialog, DialogContent } from '@/ui/overlay';
import { useStored } from '@/ui/stored';
import { type Shortcut, singleKeys, useAllShortcuts } from './shortcuts';

/** Lists every shortcut of the current page, with the switch for single-key shortcuts. */
export function KeyboardHelp({ onOpenChange }: { onOpenChange: (open: boolean) => void }) {
  const shortcuts = useAllShortcuts();
  const single = useStored(singleKeys);
  return (
    <Dialog open onOpenChange={onOpenChange}>
      <DialogContent title="Keyboard shortcuts" className="max-w-md">
        <div className="space-y-4" data-testid="keyboard-help">
          {groups(shortcuts).map(([group, members]) => (
            <section key={group}>
              <h3 className="mb-1 text-xs font-semibold text-ink-soft">{group}</h3>
              <dl className="divide-y divide-line">
                {members.map((shortcut) => (
                  <div key={shortcut.keys} className="flex items-center justify-between gap-4 py-1.5">
                    <dt>{shortcut.label}</dt>
                    <dd>
                      <Kbd keys={shortcut.keys} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <label className="flex cursor-pointer items-start gap-2 border-t border-line pt-3">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={single === 'on'}
              onChange={(event) => singleKeys.set(event.target.checked ? 'on' : 'off')}
              data-testid="single-keys"
            />
            <span>
              Single-key shortcuts
              <span className="block text-ink-soft">
                When off, only shortcuts with ⌘ or Ctrl work. Stored in this browser.
              </span>
            </span>
          </label>
          <p className="border-t border-line pt-3">
            <a className="text-accent underline" href="/docs" target="_blank" rel="noopener">
              Documentation
            </a>
          </p>
        </div>
      </DialogContent>
    </Dialog>
  );
}

/** Groups the shortcuts by heading; of two with the same keys, only the active one is kept. */
export function groups(shortcuts: readonly Shortcut[]): [string, Shortcut[]][] {
  const byGroup = new Map<string, Shortcut[]>();
  const taken = new Set<string>();
  for (const shortcut of shortcuts) {
    if (taken.has(shortcut.keys)) continue;
    taken.add(shortcut.keys);
    byGroup.set(shortcut.group, [...(byGroup.get(shortcut.group) ?? []), shortcut]);
  }
  return [...byGroup];
}
