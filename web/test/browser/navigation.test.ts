/** The navigation: menus by group, the number of approvals that wait, and every page at every width. */
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { openFromMenu } from '../kit/navigation';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  script: `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [{name: cluster__scale, arguments: {deployment: web}}], times: forever}]
  - when: {agent: Investigator}
    replies: [{text: The pod ran out of memory., times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers: {cluster: {tools: [{name: scale, description: Changes the number of replicas., results: [{text: Done.}]}]}}
`,
  config: `
approvals: {rules: [{server: "*", policy: ask}]}
agents:
  Investigator: {mcp_servers: [cluster]}
agent_chains:
  plain:
    description: One agent investigates.
    alert_types: [pod-crash]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
`,
});

/** The pages behind a menu: its name in the bar, the entry, the title of the tab, and the path. */
const behindMenus = [
  ['Work', 'Notes', 'Notes', '/notes'],
  ['Work', 'Review', 'Review', '/review'],
  ['Work', 'Board', 'Board', '/board'],
  ['Insights', 'Quality', 'Quality', '/quality'],
  ['Insights', 'Usage', 'Usage · System', '/system?tab=usage'],
  ['System', 'Health', 'Health · System', '/system'],
  ['System', 'Jobs', 'Jobs · System', '/system?tab=jobs'],
  ['System', 'Tools', 'Tools · System', '/system?tab=tools'],
  ['System', 'Configuration', 'Configuration · System', '/system?tab=config'],
  ['System', 'Keys', 'Keys · System', '/system?tab=keys'],
  ['System', 'Audit', 'Audit · System', '/system/audit'],
] as const;

test.for([
  { width: 1440, height: 900, menus: true },
  { width: 768, height: 1024, menus: false },
  { width: 390, height: 844, menus: false },
])('every page opens from the navigation at $width px', async ({ menus, ...viewport }) => {
  const tab = await visit('/', { viewport });
  const { page } = tab;
  const nav = page.getByRole('navigation', { name: 'Pages' });
  await nav.getByRole('link', { name: 'Not investigated' }).click();
  await page.getByRole('heading', { level: 1, name: 'Not investigated' }).waitFor();
  await eventually(() => page.title()).toBe('Suppressed · Not investigated · TARSy');
  await eventually(() => nav.locator('[aria-current=page]').innerText()).toBe('Not investigated');
  for (const [group, entry, title, address] of behindMenus) {
    await openFromMenu(page, menus ? group : 'More', entry);
    await eventually(() => page.title()).toBe(`${title} · TARSy`);
    await eventually(() => page.url()).toBe(server().url + address);
    await eventually(() => nav.locator('[aria-current=page]').innerText()).toContain(menus ? group : entry);
  }
  await page.getByTestId(menus ? 'pages-system' : 'pages-more').click();
  await eventually(() => page.getByRole('menuitem', { name: 'Audit' }).getAttribute('aria-current')).toBe('page');
  await eventually(() => nav.locator('[role=menuitem][aria-current=page]').count()).toBe(1);
  await tab.expectAccessible();
  await nav.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
});

test('the navigation counts approvals that wait, live, and lists them', async () => {
  const tab = await visit('/system');
  const { page } = tab;
  await page.getByTestId('pages-system').waitFor();
  const id = await server().submit();
  const count = page.getByTestId('approvals-count');
  await eventually(() => count.innerText()).toMatch(/^1\s+waiting$/);
  await tab.expectAccessible();
  await page.getByRole('link', { name: /^Approvals/ }).click();
  await page.getByTestId('approvals-list').getByText('cluster').first().waitFor();
  await eventually(() => page.title()).toBe('(1) Approvals · TARSy');
  await eventually(() => page.locator('nav [aria-current=page]').allInnerTexts()).toEqual([
    expect.stringMatching(/^Approvals/),
  ]);

  const { approvals } = await server().ask<{ approvals: { id: string }[] }>('GET', '/api/v1/approvals');
  expect(approvals).toHaveLength(1);
  await server().ask('POST', `/api/v1/approvals/${approvals[0]?.id}/approve`);
  expect(await server().waitUntilEnded(id)).toBe('completed');
  await eventually(() => count.count()).toBe(0);
});

test('the palette and the keys open every page of the navigation', async () => {
  const { page } = await visit('/');
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  for (const [group, entry, title] of behindMenus) {
    await page.keyboard.press('Control+k');
    await page.getByTestId('palette').waitFor();
    await page.keyboard.type(`${group}: ${entry}`);
    await page.keyboard.press('Enter');
    await eventually(() => page.title()).toBe(`${title} · TARSy`);
    await page.getByTestId('palette').waitFor({ state: 'detached' });
  }
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await eventually(() => page.title()).toBe('Jobs · System · TARSy');
});
