import type { ReactNode } from 'react';
import { Menu, MenuCheckboxItem, MenuContent, MenuTrigger } from '@/ui/overlay';
import { columnNames, columns, showColumn, useColumns } from './columns';

export function ColumnMenu({ children }: { children: ReactNode }) {
  const shown = useColumns();
  return (
    <Menu>
      <MenuTrigger asChild>{children}</MenuTrigger>
      <MenuContent>
        {columnNames.map((name) => (
          <MenuCheckboxItem
            key={name}
            className="max-md:min-h-11"
            checked={shown.includes(name)}
            onCheckedChange={(checked) => showColumn(name, checked)}
            data-testid={`column-${name}`}
          >
            {columns[name].label}
          </MenuCheckboxItem>
        ))}
      </MenuContent>
    </Menu>
  );
}
