/**
 * Estimated heights, used before elements are measured. Those of collapsed rows are exact, so that nothing moves when
 * they are rendered.
 */
import { approvalOf } from '@/live/approval';
import type { EventView } from '@/live/view';
import { lookOf } from './look';
import type { Lane } from './rows';

/** The height of a collapsed row, as in the class h-9 of row.tsx. */
export const foldedHeight = 36;

export const stageHeight = 56;
export const endHeight = 48;

/** The largest share of the window height that a pane takes, as in the class max-h-[60vh] of pane.tsx. */
const paneShare = 0.6;
const paneHead = 62;
const payloadHead = 32;
const payloadMost = 448;
const margins = 60;
/** The height of an approval's facts and buttons. */
const approvalHeight = 330;

/** The smallest width of a lane; lanes that do not fit are reached by scrolling. */
const narrowestLane = 270;
/** Below this list width, one lane is shown at a time. */
export const narrowList = 700;
/** The most lanes shown side by side: every rendered row has a cost. */
const mostLanes = 6;

/** Estimates the height of an opened row. */
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

/** Estimates the height of a block of lanes for a window height. */
export function parallelHeight(
  lanes: readonly Lane[],
  laneHeight: (lane: Lane) => number,
  windowHeight: number,
): number {
  const most = windowHeight * paneShare;
  const highest = Math.max(0, ...lanes.map((lane) => Math.min(most, laneHeight(lane))));
  return Math.round(paneHead + highest + 12);
}

/** Returns the width of each side-by-side lane, including the gap. */
export function laneWidth(width: number, lanes: number): number {
  return Math.max(narrowestLane, Math.floor(width / Math.max(1, Math.min(lanes, mostLanes))));
}

/** A slice of a block, in pixels from its top. */
export interface Band {
  top: number;
  bottom: number;
}

/** The step, in pixels, in which a block is rendered. */
export const bandStep = 216;

/** Returns the visible slice of a block, in large steps, so that it rarely changes while the reader scrolls. */
export function bandOf(start: number, offset: number, viewport: number): Band {
  const top = offset - start;
  return {
    top: Math.floor(top / bandStep) * bandStep,
    bottom: Math.ceil((top + viewport) / bandStep) * bandStep,
  };
}

/** Reports whether a row of a pane, at this position in the pane's viewport, is in the visible slice of its block. */
export function inBand(band: Band, start: number, end: number): boolean {
  return end + paneHead > band.top && start + paneHead < band.bottom;
}
