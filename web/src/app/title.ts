import { useEffect } from 'react';
import { visible } from '@/text/visible';

const product = 'TARSy';

/** Sets the title of the tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? product : `${visible(title)} · ${product}`;
    return () => {
      document.title = product;
    };
  }, [title]);
}
