/**
 * A sheet that covers the page from its lower edge, for narrow screens. The page's address opens it, so that Back
 * closes it.
 */
import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button';
import { useFocusReturn } from './overlay';

export function Sheet({
  open,
  title,
  closeLabel,
  onClose,
  children,
  ...rest
}: {
  open: boolean;
  title: ReactNode;
  closeLabel: string;
  onClose: () => void;
  children: ReactNode;
  'data-testid'?: string;
}) {
  const focusReturn = useFocusReturn();
  return (
    <Dialog.Root open={open} onOpenChange={(shown) => !shown && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focusReturn}
          className="fixed inset-x-0 top-10 bottom-0 z-50 mx-auto flex max-w-2xl flex-col overflow-hidden rounded-t-lg border border-line bg-surface"
          {...rest}
        >
          <header className="flex min-h-11 shrink-0 items-center justify-between gap-2 border-b border-line pr-1 pl-4">
            <Dialog.Title className="min-w-0 truncate text-sm font-semibold">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <Button variant="ghost" size="icon" className="max-lg:size-11" aria-label={closeLabel}>
                <X aria-hidden />
              </Button>
            </Dialog.Close>
          </header>
          <div className="min-h-0 flex-1">{children}</div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
