/** The chat on a narrow screen: it lies over the page and is opened by the page's address. */
import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from '@/ui/button';
import { useFocusReturn } from '@/ui/overlay';

export function ChatSheet({ open, onClose, children }: { open: boolean; onClose: () => void; children: ReactNode }) {
  const focusReturn = useFocusReturn();
  return (
    <Dialog.Root open={open} onOpenChange={(shown) => !shown && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focusReturn}
          className="fixed inset-x-0 top-10 bottom-0 z-50 mx-auto flex max-w-2xl flex-col overflow-hidden rounded-t-lg border border-line bg-surface"
        >
          <header className="flex h-11 shrink-0 items-center justify-between border-b border-line pr-1 pl-4">
            <Dialog.Title className="text-sm font-semibold">Chat</Dialog.Title>
            <Dialog.Close asChild>
              <Button variant="ghost" size="icon" aria-label="Close chat">
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
