import type { ReactNode } from 'react';

/**
 * An untrusted address. It is a link only if it is safe to follow, and its target gets no referrer; otherwise only the
 * text is shown.
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
