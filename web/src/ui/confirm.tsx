/** Asks for confirmation of an irreversible action, and shows the server's error if it is rejected. */
import type { ReactNode } from 'react';
import { Button } from './button';
import { ProblemPanel } from './feedback';
import { Dialog, DialogClose, DialogContent } from './overlay';

export function Confirm({
  open,
  onOpenChange,
  title,
  children,
  action,
  back = 'Back',
  danger = false,
  busy,
  error,
  onConfirm,
  testId = 'confirm',
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  /** The label of the confirm button. */
  action: string;
  /** The label of the back button. */
  back?: string;
  danger?: boolean;
  busy: boolean;
  error: Error | null;
  onConfirm: () => void;
  testId?: string;
}) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange}>
      <DialogContent title={title}>
        <div className="text-ink-soft">{children}</div>
        {error && <ProblemPanel className="mt-4" error={error} />}
        <div className="mt-4 flex justify-end gap-2">
          <DialogClose asChild>
            <Button>{back}</Button>
          </DialogClose>
          <Button variant={danger ? 'danger' : 'primary'} disabled={busy} onClick={onConfirm} data-testid={testId}>
            {busy ? `${action}…` : action}
          </Button>
        </div>
      </DialogContent>
    </Dialog>
  );
}
