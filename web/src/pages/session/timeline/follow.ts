/**
 * Decides whether a list follows its end: while the reader is there. A reader who scrolls up is left alone until they
 * scroll back or jump to the end. A state machine without a browser, so that it can be tested without one.
 */

/** The distance from the end, in pixels, that counts as being there. */
const nearEnd = 40;

export interface FollowState {
  following: boolean;
  /** A link or key moved the reader here; being near the end does not mean that they want to follow it. */
  movedByLink: boolean;
  /** The last known scroll position. */
  top: number;
  /** The number of rows when the reader left the end. */
  seen: number;
}

export type FollowInput =
  /** The list was scrolled, by the reader or by code. */
  | { type: 'scrolled'; top: number; max: number; total: number }
  /** Code scrolled the list to its end. The scroll event comes later, when the list may have grown again. */
  | { type: 'pinned'; top: number }
  /** The reader scrolls up (wheel, touch); the list may not have moved yet. */
  | { type: 'pulled'; top: number; total: number }
  /** The reader scrolls down; at the very end nothing moves, but the intent counts. */
  | { type: 'pushed'; top: number; max: number }
  /** The reader uses the scroll bar or a key. */
  | { type: 'taken' }
  /** A link or a key moved the reader elsewhere. */
  | { type: 'left'; total: number }
  /** The reader jumped to the end. */
  | { type: 'jumped' };

export function startFollow(following: boolean, total: number): FollowState {
  return { following, movedByLink: false, top: 0, seen: total };
}

export function follow(state: FollowState, input: FollowInput): FollowState {
  switch (input.type) {
    case 'scrolled': {
      const { top, max, total } = input;
      const left = max - top;
      if (top < state.top) {
        // Shrinking content moves up a list that is at its end; any other move up is the reader's.
        return left <= 1 ? { ...state, top } : leave({ ...state, top }, total);
      }
      if (top > state.top && left <= nearEnd && !state.movedByLink) return { ...state, following: true, top };
      return { ...state, top };
    }
    case 'pinned':
      return { ...state, top: input.top };
    case 'pulled':
      return input.top > 0 ? { ...leave(state, input.total), movedByLink: false } : state;
    case 'pushed':
      return { ...state, movedByLink: false, following: state.following || input.max - input.top <= nearEnd };
    case 'taken':
      return { ...state, movedByLink: false };
    case 'left':
      return { ...leave(state, input.total), movedByLink: true };
    case 'jumped':
      return { ...state, movedByLink: false, following: true };
  }
}

/** Returns how many rows were added since the reader left the end. */
export function newRows(state: FollowState, total: number): number {
  return state.following ? 0 : Math.max(0, total - state.seen);
}

function leave(state: FollowState, total: number): FollowState {
  return state.following ? { ...state, following: false, seen: total } : state;
}

/** The state of one list, for React and for code that needs it synchronously. */
export class Follow {
  #state: FollowState;
  readonly #listeners = new Set<() => void>();

  constructor(following: boolean, total: number) {
    this.#state = startFollow(following, total);
  }

  readonly state = (): FollowState => this.#state;

  get following(): boolean {
    return this.#state.following;
  }

  step(input: FollowInput): void {
    const before = this.#state;
    this.#state = follow(before, input);
    if (before.following === this.#state.following && before.seen === this.#state.seen) return;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };
}
