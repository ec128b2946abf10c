import { cn } from '@/ui/cn';

/** The logo: the four slabs of favicon.svg in the surrounding text colour. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 20 20" className={cn('size-5 text-accent', className)} aria-hidden="true" fill="currentColor">
      <rect x="1" y="1" width="4" height="18" rx="1" />
      <rect x="6.4" y="1" width="2.8" height="18" rx="1" opacity=".7" />
      <rect x="10.8" y="1" width="2.8" height="18" rx="1" opacity=".7" />
      <rect x="15" y="1" width="4" height="18" rx="1" />
    </svg>
  );
}
