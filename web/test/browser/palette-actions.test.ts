/** The palette contains every action of a page. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { everything, fill, type Place, places, type Sessions } from '../kit/everything';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { scroller } from '../kit/timeline';

const { server, visit } = scenario(everything);
const sessions: Sessions = { done: '', running: '', note: '', repeated: '', storm: '' };

beforeAll(async () => {
  Object.assign(sessions, await fill(server()));
});

/** Actions whose command has a different name. */
const otherWords: Record<string, RegExp> = {
  Cancel: /^Cancel this session$/,
  'Re-run': /^Re-run this session$/,
  Export: /^Export/,
  'One at a time': /^Review one item at a time$/,
  Several: /^Review several items at once$/,
  'Needs approval': /^(Filter by approval|Remove filter): Needs approval$/,
  Acknowledge: /^Acknowledge this session$/,
  Resolve: /^Resolve this session$/,
  'Assign to me': /^Assign this session to me$/,
  Assign: /^Assign this session…$/,
  Tags: /^Edit the tags of this session$/,
  Trace: /^Open trace$/,
  Chat: /^Ask a question$/,
  'Silence…': /^Silence this alert$/,
  'Share…': /^Share this session$/,
  'Cancel matching…': /^Cancel matching sessions$/,
  'Cancel all active…': /^Cancel all active sessions$/,
  'Pause… intake': /^Pause intake$/,
  'Pause… claiming': /^Pause claiming$/,
  'Ask about this session': /^Ask a question$/,
};

interface Control {
  role: string;
  name: string;
}

/** Returns the enabled controls in a part of the page, as assistive technology sees them. */
async function controls(page: Page, part: string): Promise<Control[]> {
  const found: Control[] = [];
  for (const place of await page.locator(part).all()) {
    for (const line of (await place.ariaSnapshot()).split('\n')) {
      const [, role, name, state] =
        line.match(/^\s*- (button|switch|checkbox|radio|combobox|textbox|searchbox|tab) ("(?:[^"\\]|\\.)*")(.*)$/) ??
        [];
      if (role === undefined || name === undefined || /\[disabled\]/.test(state ?? '')) continue;
      if ((role === 'radio' && /\[checked\]/.test(state ?? '')) || (role === 'tab' && /\[selected\]/.test(state ?? '')))
        continue;
      found.push({ role, name: JSON.parse(name) as string });
    }
  }
  return found;
}

interface Lines {
  /** The actions of the page. */
  here: string[];
  /** The pages; tabs with an address of their own are among them. */
  elsewhere: string[];
}

async function paletteLines(page: Page): Promise<Lines> {
  await page.keyboard.press('Control+k');
  const palette = page.getByTestId('palette');
  await palette.waitFor();
  const read = (group: string) =>
    palette
      .getByRole('group', { name: group })
      .getByRole('option')
      .evaluateAll((options) =>
        options.map((option) => {
          // Without the keys, which a phone does not show.
          const text = option.cloneNode(true) as HTMLElement;
          for (const key of text.querySelectorAll('kbd')) key.remove();
          return (text.textContent ?? '').replace(/\s+/g, ' ').trim();
        }),
      );
  const lines = { here: await read('On this page'), elsewhere: await read('Go to') };
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  return lines;
}

function covers(line: string, { role, name }: Control): boolean {
  if (otherWords[name]) return otherWords[name].test(line);
  switch (role) {
    case 'combobox':
      return line.startsWith(`${name}: `);
    case 'radio':
    case 'tab':
      return line.toLowerCase().includes(name.toLowerCase());
    default:
      // A key shown on a button is part of its accessible name, but not of the action's name.
      return line === name || `${line} ${name.at(-1)}` === name;
  }
}

const pages = places.filter(({ name }) => !['chat', 'trace', 'no such page'].includes(name));

/** The palette entries of each page on a wide screen, for comparison by other tests. */
const wideLines = new Map<string, Lines>();

async function openWide({ address, ready }: Place): Promise<Page> {
  const { page } = await visit(address(sessions), { viewport: { width: 1280, height: 900 } });
  await ready(page);
  return page;
}

test.each(pages)('the palette has every action of $name', async (place) => {
  const page = await openWide(place);
  const read: Lines = { here: [], elsewhere: [] };
  await eventually(async () => {
    Object.assign(read, await paletteLines(page));
    const lines = [...read.here, ...read.elsewhere];
    const all = await controls(page, 'main');
    // Controls of timeline rows and cards are excluded, and so are names that several rows share.
    const rows =
      '[data-testid=timeline] ul[aria-label=Events], [data-testid=board], label:has([data-testid=select-row])';
    const ofRows = await controls(page, rows);
    const times = (control: Control) => all.filter(({ name }) => name === control.name).length;
    return all
      .filter((control) => times(control) === 1 && !ofRows.some(({ name }) => name === control.name))
      .filter((control) => !lines.some((line) => covers(line, control)));
  }).toEqual([]);
  for (const lines of [read.here, read.elsewhere]) {
    expect(new Set(lines).size, `no line is there twice: ${lines}`).toBe(lines.length);
  }
  wideLines.set(place.name, read);
});

const phone = { viewport: { width: 360, height: 740 } };
/** The chat is beside the page on a wide screen, and opened on request elsewhere. */
const onlyWide = ['Close chat'];

test.each(pages)('the palette of $name has the same actions on a phone', async (place) => {
  const lines = wideLines.get(place.name) ?? (await paletteLines(await openWide(place)));
  const wide = lines.here.filter((line) => !onlyWide.includes(line));
  const narrow = (await visit(place.address(sessions), phone)).page;
  await place.ready(narrow);
  await eventually(async () => {
    const { here, elsewhere } = await paletteLines(narrow);
    return [
      ...wide.filter((line) => !here.includes(line)),
      ...lines.elsewhere.filter((line) => !elsewhere.includes(line)),
    ];
  }).toEqual([]);
});

test('actions that a phone hides are available in the palette', async () => {
  const { page } = await visit(`/sessions/${sessions.done}`, {
    ...phone,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByTestId('more-actions').waitFor();
  await eventually(() => page.getByTestId('session-actions').isVisible()).toBe(false);
  await choose(page, 'copy link');
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toContain(`/sessions/${sessions.done}`);
  await choose(page, 'edit and resubmit');
  await page.waitForURL(new RegExp(`/submit\\?from=${sessions.done}`));

  await page.goto(server().url);
  await page.getByTestId('session-row').first().waitFor();
  await choose(page, 'severity: high');
  await page.waitForURL(/severity=high/);
  await eventually(() => page.getByTestId('filter-label').isVisible()).toBe(false);
  // A folded field can be focused: the filters unfold for it.
  await choose(page, 'label, as name');
  await eventually(() => page.getByTestId('filter-label').evaluate((field) => field === document.activeElement)).toBe(
    true,
  );
});

async function choose(page: Page, typed: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type(typed);
  await page.keyboard.press('Enter');
  await page.getByTestId('palette').waitFor({ state: 'detached' });
}

test('session commands do the same as the buttons', async () => {
  const { page } = await visit(`/sessions/${sessions.done}`, {
    viewport: { width: 1280, height: 700 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByTestId('executive-summary').waitFor();

  await choose(page, 'copy link');
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toContain(`/sessions/${sessions.done}`);

  const download = page.waitForEvent('download');
  await choose(page, 'report markdown');
  expect((await download).suggestedFilename()).toMatch(/\.md$/);

  await choose(page, 'ask a question');
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
    'Ask about this session',
  );

  const open = () => page.locator('[data-testid=timeline-row][data-open=true]').count();
  await choose(page, 'expand all of the timeline');
  await choose(page, 'go to stage 1');
  await eventually(() => scroller(page).evaluate((list) => list.scrollTop)).toBeGreaterThan(0);
  await eventually(open).toBeGreaterThan(0);
  const first = await scroller(page).evaluate((list) => list.scrollTop);
  await choose(page, 'next section');
  await eventually(() => scroller(page).evaluate((list) => list.scrollTop)).toBeGreaterThan(first);
  await choose(page, 'previous section');
  await choose(page, 'previous section');
  await eventually(() => scroller(page).evaluate((list) => list.scrollTop)).toBeLessThan(first);
  await choose(page, 'collapse all of the timeline');
  await choose(page, 'go to stage 1');
  await eventually(open).toBe(0);
});

test('the palette opens fields, choices and menus of a page', async () => {
  const { page } = await visit('/notes');
  await page.getByTestId('notes-list').waitFor();
  await choose(page, 'status failed');
  await page.waitForURL(/status=failed/);
  await page.goto(`${server().url}/board?type=all`);
  await page.getByTestId('board-card').first().waitFor();
  await choose(page, 'export');
  await page.getByTestId('export-csv').waitFor();
});
