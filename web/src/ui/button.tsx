import { cva, type VariantProps } from 'class-variance-authority';
import { Slot } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from './cn';

const look = cva(
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        primary: 'bg-accent text-accent-ink hover:bg-[color-mix(in_oklab,var(--accent),var(--ink)_15%)]',
        secondary: 'border border-line bg-surface text-ink hover:bg-sunken',
        ghost: 'text-ink-soft hover:bg-sunken hover:text-ink',
        danger: 'border border-bad/40 bg-surface text-bad hover:bg-bad-soft',
        link: 'text-accent underline-offset-4 hover:underline',
      },
      size: {
        // A touch target needs 44 px, whatever the visual size.
        sm: 'h-7 px-2 text-xs pointer-coarse:min-h-11 pointer-coarse:min-w-11',
        md: 'h-9 px-3 text-sm pointer-coarse:min-h-11 pointer-coarse:min-w-11',
        icon: 'size-8 pointer-coarse:min-h-11 pointer-coarse:min-w-11',
      },
    },
    defaultVariants: { variant: 'secondary', size: 'md' },
  },
);

type Props = ComponentProps<'button'> & VariantProps<typeof look> & { asChild?: boolean };

export function Button({ className, variant, size, asChild = false, type = 'button', ...props }: Props) {
  const Element = asChild ? Slot.Root : 'button';
  return (
    <Element
      type={asChild ? undefined : type}
      className={cn(look({ variant, size }), className)}
      // The palette includes everything that looks like a button, even links.
      data-button=""
      {...props}
    />
  );
}
