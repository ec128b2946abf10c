import type { Page } from 'playwright-core';

/** Opens a page from a menu of the navigation. */
export async function openFromMenu(page: Page, menu: 'Work' | 'Insights' | 'System' | 'More', name: string) {
  await page.getByTestId(`pages-${menu.toLowerCase()}`).click();
  await page.getByRole('menuitem', { name: new RegExp(`^${name}`) }).click();
}
