/** Dialogs, menus and tooltips, built on Radix. */
import { Check, X } from 'lucide-react';
import { Dialog as DialogParts, DropdownMenu as MenuParts, Tooltip as TooltipParts } from 'radix-ui';
import { type ComponentProps, type ReactNode, type RefObject, useRef } from 'react';
import { Button } from './button';
import { cn } from './cn';

export const Dialog = DialogParts.Root;
export const DialogTrigger = DialogParts.Trigger;
export const DialogClose = DialogParts.Close;

/**
 * When a dialog closes, returns the focus to the element that had it before. Radix returns it only to the dialog's
 * trigger, and a dialog opened by a key or a menu has none. `first` gets the focus when the dialog opens; by default,
 * the first focusable element does.
 */
export function useFocusReturn(first?: RefObject<HTMLElement | null>) {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus: (event: Event) => {
      before.current = document.activeElement;
      if (!first?.current) return;
      event.preventDefault();
      first.current.focus();
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      // If the element is gone, such as a button that was confirmed, the page gets the focus.
      const target = before.current?.isConnected ? before.current : document.querySelector('main');
      if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    },
  };
}

export function DialogContent({
  title,
  description,
  children,
  className,
  first,
}: {
  /** The element to focus when the dialog opens. */
  first?: RefObject<HTMLElement | null>;
  title: string;
  description?: string;
  children: ReactNode;
  className?: string;
}) {
  const focusReturn = useFocusReturn(first);
  return (
    <DialogParts.Portal>
      <DialogParts.Overlay className="fixed inset-0 z-40 bg-black/50" />
      <DialogParts.Content
        className={cn(
          'fixed top-[10vh] left-1/2 z-50 flex max-h-[80vh] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 flex-col rounded-lg border border-line bg-raised shadow-xl',
          className,
        )}
        {...focusReturn}
        {...(description ? {} : { 'aria-describedby': undefined })}
      >
        <header className="flex items-start gap-2 border-b border-line px-4 py-3">
          <div className="min-w-0 flex-1">
            <DialogParts.Title className="font-semibold">{title}</DialogParts.Title>
            {description && <DialogParts.Description className="text-ink-soft">{description}</DialogParts.Description>}
          </div>
          <DialogParts.Close asChild>
            <Button variant="ghost" size="icon" aria-label="Close">
              <X aria-hidden />
            </Button>
          </DialogParts.Close>
        </header>
        <div className="overflow-auto p-4">{children}</div>
      </DialogParts.Content>
    </DialogParts.Portal>
  );
}

/**
 * Not modal: the page behind stays readable for screen readers, and its elements are not hidden while they can be
 * focused.
 */
export function Menu(props: ComponentProps<typeof MenuParts.Root>) {
  return <MenuParts.Root modal={false} {...props} />;
}

export const MenuTrigger = MenuParts.Trigger;

const itemLook =
  'flex min-h-8 cursor-pointer items-center gap-2 rounded px-2 py-1 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-sunken [&_svg]:size-4 [&_svg]:shrink-0';

export function MenuContent({ className, ...props }: ComponentProps<typeof MenuParts.Content>) {
  return (
    // Without a portal: the menu belongs to the same region of the page as its button.
    <MenuParts.Content
      sideOffset={4}
      align="end"
      collisionPadding={8}
      className={cn(
        'z-50 min-w-44 rounded-md border border-line bg-raised p-1 text-left text-sm font-normal whitespace-normal text-ink shadow-lg',
        className,
      )}
      {...props}
    />
  );
}

export function MenuItem({ className, ...props }: ComponentProps<typeof MenuParts.Item>) {
  return <MenuParts.Item className={cn(itemLook, className)} {...props} />;
}

/** An item of a multiple choice; the menu stays open. */
export function MenuCheckboxItem({ className, children, ...props }: ComponentProps<typeof MenuParts.CheckboxItem>) {
  return (
    <MenuParts.CheckboxItem className={cn(itemLook, className)} onSelect={(event) => event.preventDefault()} {...props}>
      <span className="flex size-4 items-center justify-center rounded border border-line-strong">
        <MenuParts.ItemIndicator>
          <Check className="size-3!" aria-hidden />
        </MenuParts.ItemIndicator>
      </span>
      {children}
    </MenuParts.CheckboxItem>
  );
}

export const MenuRadioGroup = MenuParts.RadioGroup;

/** An item of a single choice. */
export function MenuRadioItem({ className, children, ...props }: ComponentProps<typeof MenuParts.RadioItem>) {
  return (
    <MenuParts.RadioItem className={cn(itemLook, className)} {...props}>
      {children}
      <MenuParts.ItemIndicator className="ml-auto">
        <Check aria-hidden />
      </MenuParts.ItemIndicator>
    </MenuParts.RadioItem>
  );
}

/** A line of text that is not an item. */
export function MenuLabel({ className, ...props }: ComponentProps<typeof MenuParts.Label>) {
  return <MenuParts.Label className={cn('px-2 py-1.5 text-xs text-ink-soft', className)} {...props} />;
}

/** A tooltip for an element that already has a name. It must never be the only place for a piece of information. */
export function Hint({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <TooltipParts.Provider delayDuration={300}>
      <TooltipParts.Root>
        <TooltipParts.Trigger asChild>{children}</TooltipParts.Trigger>
        <TooltipParts.Portal>
          <TooltipParts.Content
            sideOffset={4}
            className="z-50 max-w-xs rounded-md border border-line bg-raised px-2 py-1 text-xs text-ink shadow-lg"
          >
            {text}
          </TooltipParts.Content>
        </TooltipParts.Portal>
      </TooltipParts.Root>
    </TooltipParts.Provider>
  );
}
