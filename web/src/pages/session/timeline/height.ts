/** How high things are before they were measured. Folded rows are exact, so that nothing moves when they are drawn. */
import { approvalOf } from '@/live/approval';
import type { EventView } from '@/live/view';
import { lookOf } from './look';
import type { Lane } from './rows';

/** The height of a folded row; the class h-9 of row.tsx says the same. */
export const foldedHeight = 36;

export const stageHeight = 56;
export const endHeight = 48;

/** The share of the window that a pane takes at most; the class max-h-[60vh] of pane.tsx says the same. */
const paneShare = 0.6;
const paneHead = 62;
const payloadHead = 32;
const payloadMost = 448;
const margins = 60;
/** The facts and buttons of an approval. */
const approvalHeight = 190;

/** The narrowest that a lane gets; more lanes than fit are scrolled to. */
const narrowestLane = 270;
/** Below this width of the list one lane is shown at a time. */
export const narrowList = 700;
/** More lanes than this are not shown at once: each row that is drawn costs. */
const mostLanes = 6;

/** How high an opened row will be, roughly. */
export function openHeight(event: EventView, width: number): number {
  const across = Math.max(20, Math.min(width - 24, 560) / 7);
  const lines = (length: number) => Math.ceil(length / across);
  const payload = (length: number) => payloadHead + Math.min(payloadMost, 18 + 18 * lines(length));
  switch (lookOf(event.event_type).body) {
    case 'markdown':
      return foldedHeight + margins + 22 * lines(event.content_length);
    case 'text':
      return foldedHeight + margins + 28 + 20 * lines(event.content_length);
    case 'call':
      return (
        foldedHeight +
        margins +
        (approvalOf(event) ? approvalHeight : 0) +
        payload(120) +
        (event.status === 'streaming' ? 28 : payload(event.content_length))
      );
    default:
      return foldedHeight + margins + payload(event.content_length);
  }
}

/** How high a block of lanes will be in a window of that height. */
export function parallelHeight(
  lanes: readonly Lane[],
  laneHeight: (lane: Lane) => number,
  windowHeight: number,
): number {
  const most = windowHeight * paneShare;
  const highest = Math.max(0, ...lanes.map((lane) => Math.min(most, laneHeight(lane))));
  return Math.round(paneHead + highest + 12);
}

/** How wide each lane is, gap included, where they stand side by side. */
export function laneWidth(width: number, lanes: number): number {
  return Math.max(narrowestLane, Math.floor(width / Math.max(1, Math.min(lanes, mostLanes))));
}

/** A part of a block, in pixels from its top. */
export interface Band {
  top: number;
  bottom: number;
}

/** How coarse the parts are in which a block is drawn. */
export const bandStep = 216;

/** The part of a block that is on screen, in coarse steps, so that it changes seldom while the reader scrolls. */
export function bandOf(start: number, offset: number, viewport: number): Band {
  const top = offset - start;
  return {
    top: Math.floor(top / bandStep) * bandStep,
    bottom: Math.ceil((top + viewport) / bandStep) * bandStep,
  };
}

/** Whether a row of a pane, at this place of the pane's view, is in the part of its block that is on screen. */
export function inBand(band: Band, start: number, end: number): boolean {
  return end + paneHead > band.top && start + paneHead < band.bottom;
}
