import type { Page } from 'playwright-core';

/** Opens the filters of the session list, unless they are open. */
export async function openFilters(page: Page): Promise<void> {
  const toggle = page.getByTestId('filter-toggle');
  await toggle.waitFor();
  if ((await toggle.getAttribute('aria-expanded')) === 'false') await toggle.click();
}
