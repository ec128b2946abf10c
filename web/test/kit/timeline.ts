/** The timeline on a page and on the server, for comparison. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TimelineEvent } from '@/api/types';
import type { Server } from './server';

export async function timelineOf(server: Server, sessionId: string): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page: { events: TimelineEvent[]; next_cursor?: string } = await server.ask(
      'GET',
      `/api/v1/sessions/${sessionId}/timeline?limit=5000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    events.push(...page.events);
    cursor = page.next_cursor;
  }
  return events;
}

/** Returns the event of a tool call by its number. */
export async function callOf(server: Server, sessionId: string, call: string): Promise<TimelineEvent> {
  const event = (await timelineOf(server, sessionId)).find((candidate) => candidate.metadata?.call === call);
  if (event === undefined) throw new Error(`the session has no tool call ${call}`);
  return event;
}

export const timeline = (page: Page) => page.getByTestId('timeline');
export const scroller = (page: Page) => page.getByTestId('timeline-scroller');
export const rowOf = (page: Page, eventId: string) =>
  page.locator(`[data-testid=timeline-row][data-event-id="${eventId}"]`);
/** Finds rows by the number of their tool call. */
export const callRow = (page: Page, call: string) =>
  page.getByTestId('timeline-row').filter({ has: page.getByText(`Tool call ${call}`, { exact: true }) });
export const status = (page: Page, value: string) =>
  page.locator(`[data-testid=session-header] [data-status=${value}]`);

/** Reports whether any part of an element is visible in the timeline. */
export function inSight(element: Locator): Promise<boolean> {
  return element.evaluate((node) => {
    const frame = node.closest('[data-testid=timeline-scroller]') ?? document.documentElement;
    const [own, view] = [node.getBoundingClientRect(), frame.getBoundingClientRect()];
    return own.height > 0 && own.bottom > view.top && own.top < view.bottom;
  });
}

export interface Position {
  top: number;
  /** The first visible row, and its position. */
  first: string;
  offset: number;
}

/** Returns the reader's position in a list. */
export function position(list: Locator): Promise<Position> {
  return list.evaluate((list) => {
    const { top } = list.getBoundingClientRect();
    const rows = [...list.querySelectorAll<HTMLElement>('[data-testid=timeline-row]')]
      .map((row) => ({ id: row.dataset.eventId ?? '', box: row.getBoundingClientRect() }))
      .filter(({ box }) => box.bottom > top)
      .sort((a, b) => a.box.top - b.box.top);
    return { top: list.scrollTop, first: rows[0]?.id ?? '', offset: rows[0]?.box.top ?? Number.NaN };
  });
}

export interface Reading {
  /** The events of the rows, from first to last. */
  events: string[];
  /** The largest number of rows in the document. */
  mostDrawn: number;
}

/**
 * Scrolls through a list without panes and returns the rows of each screen, from the beginning to the end or until
 * `wanted` is on one of them.
 */
async function walk(page: Page, wanted = '') {
  return scroller(page).evaluate(async (list, event) => {
    const drawn: { event: string; place: number }[][] = [];
    // A busy machine renders late. While any visible part is blank, there is nothing to read.
    const isWhole = () => {
      const { top, bottom } = list.getBoundingClientRect();
      const items = [...list.querySelectorAll<HTMLElement>('[data-index]')]
        .map((item) => ({ index: Number(item.dataset.index), ...item.getBoundingClientRect().toJSON() }))
        .filter((item) => item.bottom > top && item.top < bottom)
        .sort((a, b) => a.top - b.top);
      const first = items[0];
      const last = items.at(-1);
      if (first === undefined || last === undefined) return false;
      const begins = first.index === 0 || first.top <= top + 1;
      const ends = last.bottom >= bottom - 1 || list.scrollTop + list.clientHeight >= list.scrollHeight - 1;
      return begins && ends && items.every((item, n) => n === 0 || item.top <= (items[n - 1]?.bottom ?? 0) + 1);
    };
    // A reader's scrolling up starts with a wheel event. Without it, a following list would return to its end if it
    // grew before it got the scroll event.
    list.dispatchEvent(new WheelEvent('wheel', { deltaY: -1, bubbles: true }));
    list.scrollTop = 0;
    for (;;) {
      // Rows are rendered in the next frame and measured in the one after it.
      for (let frame = 0; frame < 2 || !isWhole(); frame++) await new Promise(requestAnimationFrame);
      const rows = [...list.querySelectorAll<HTMLElement>('[data-testid=timeline-row]')]
        .map((row) => ({ row, top: row.getBoundingClientRect().top }))
        .sort((a, b) => a.top - b.top);
      const screen = rows.map(({ row }) => ({
        event: row.dataset.eventId ?? '',
        place: Number(row.getAttribute('aria-posinset')),
      }));
      drawn.push(screen);
      if (screen.some((row) => row.event === event)) return drawn;
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) return drawn;
      list.scrollTop += list.clientHeight * 0.8;
    }
  }, wanted);
}

/**
 * Reads all rows of a list without panes as a reader would, by scrolling from the beginning to the end. At no moment
 * may a row appear twice, be out of place, or turn into another.
 */
export async function readRows(page: Page): Promise<Reading> {
  const screens = await walk(page);
  const read = new Map<number, string>();
  // Tens of thousands of expectations would take longer than the reading, so errors are collected and expected to be
  // none.
  const wrong: string[] = [];
  for (const rows of screens) {
    if (rows.some(({ place }, n) => n > 0 && place <= (rows[n - 1]?.place ?? 0)))
      wrong.push(`rows stand in the order ${rows.map(({ place }) => place)}`);
    if (new Set(rows.map(({ event }) => event)).size < rows.length) wrong.push('a row is there twice');
    for (const { event, place } of rows) {
      const before = read.get(place) ?? event;
      if (before !== event) wrong.push(`row ${place} was ${before} and became ${event}`);
      read.set(place, event);
    }
  }
  expect(wrong).toEqual([]);
  return {
    events: [...read].sort(([a], [b]) => a - b).map(([, event]) => event),
    mostDrawn: Math.max(...screens.map((rows) => rows.length)),
  };
}

/** Scrolls through the list from its beginning until a row is visible. */
export async function reveal(page: Page, eventId: string): Promise<Locator> {
  const row = rowOf(page, eventId);
  await walk(page, eventId);
  await row.evaluate((element) => element.scrollIntoView({ block: 'start' }));
  return row;
}

/** Records every status that the header shows from now on, without repetitions. */
export async function noteStatuses(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const root = document.documentElement;
    const look = () => {
      const now = document.querySelector<HTMLElement>('[data-testid=session-header] [data-status]')?.dataset.status;
      const before = root.dataset.seen?.split(' ') ?? [];
      if (now && before.at(-1) !== now) root.dataset.seen = [...before, now].join(' ');
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
  });
  return () => page.evaluate(() => document.documentElement.dataset.seen?.split(' ') ?? []);
}

/** Expects the page to show every event of the session once, in the server's order. */
export async function expectWholeTimeline(page: Page, server: Server, sessionId: string): Promise<void> {
  const events = await timelineOf(server, sessionId);
  expect((await readRows(page)).events).toEqual(events.map((event) => event.id));
}
