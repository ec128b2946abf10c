import { useEffect } from 'react';

const product = 'TARSy';

/** Names the tab after the page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? product : `${title} · ${product}`;
    return () => {
      document.title = product;
    };
  }, [title]);
}
