import type { ReactNode } from 'react';

/**
 * An address of strangers. A link only where a browser may safely follow it, and told nothing of where it was clicked;
 * anything else is what stands there.
 */
export function SafeLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (!href || !/^https?:\/\/[^/]/i.test(href)) return <span>{children}</span>;
  return (
    <a
      href={href}
      title={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline underline-offset-2"
    >
      {children}
    </a>
  );
}
