/** The chat on a narrow screen: a sheet over the page, opened through the page's address. */
import type { ReactNode } from 'react';
import { Sheet } from '@/ui/sheet';

export function ChatSheet({ open, onClose, children }: { open: boolean; onClose: () => void; children: ReactNode }) {
  return (
    <Sheet open={open} title="Chat" closeLabel="Close chat" onClose={onClose}>
      {children}
    </Sheet>
  );
}
