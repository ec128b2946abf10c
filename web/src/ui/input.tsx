import type { ComponentProps } from 'react';
import { cn } from './cn';

const box =
  'w-full rounded-md border border-line-strong bg-surface px-3 text-sm text-ink placeholder:text-ink-faint disabled:opacity-50 aria-invalid:border-bad';

export function Input({ className, ...props }: ComponentProps<'input'>) {
  return <input className={cn(box, 'h-9', className)} {...props} />;
}

export function Textarea({ className, ...props }: ComponentProps<'textarea'>) {
  return <textarea className={cn(box, 'min-h-20 py-2', className)} {...props} />;
}

/** The native select: it works on phones, by keyboard and with screen readers. */
export function Select({ className, ...props }: ComponentProps<'select'>) {
  return <select className={cn(box, 'h-9 pr-8', className)} {...props} />;
}
