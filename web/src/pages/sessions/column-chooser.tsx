/** Chooses the columns of the list. */
import { Columns3 } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { explainMissing } from '@/app/failure';
import { Button } from '@/ui/button';

// Menus are loaded after the list.
const ColumnMenu = lazy(() => import('./column-menu').then((menu) => ({ default: menu.ColumnMenu }), explainMissing));

const face = (
  <Button size="sm" className="max-md:h-11" data-testid="columns">
    <Columns3 aria-hidden /> <span className="max-sm:sr-only">Columns</span>
  </Button>
);

export function ColumnChooser() {
  return (
    <Suspense fallback={face}>
      <ColumnMenu>{face}</ColumnMenu>
    </Suspense>
  );
}
