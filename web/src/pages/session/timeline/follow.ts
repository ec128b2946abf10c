/**
 * Whether a list follows its end. It does while the reader is there; a reader who goes up is left alone until they come back
 * by themselves or ask to. A state machine without a browser, so that it can be tested without one.
 */

/** How near to the end, in pixels, counts as being there. */
const nearEnd = 40;

export interface FollowState {
  following: boolean;
  /** The reader was led to a place; being near the end there does not mean that they want to follow it. */
  led: boolean;
  /** Where the list was scrolled to when it was last looked at. */
  top: number;
  /** How many rows there were when the reader left the end. */
  seen: number;
}

export type FollowInput =
  /** The list moved, by hand or by code. */
  | { type: 'scrolled'; top: number; max: number; total: number }
  /** The list was brought to its end, and is notified of that move later, when it may have grown again. */
  | { type: 'pinned'; top: number }
  /** The reader pulls upwards (wheel, touch); the list may not have moved yet. */
  | { type: 'pulled'; top: number; total: number }
  /** The reader pushes downwards; at the very end that moves nothing, and says what they want all the same. */
  | { type: 'pushed'; top: number; max: number }
  /** The reader took the list in hand: its bar, a key. */
  | { type: 'taken' }
  /** The reader was led somewhere by a link or a key. */
  | { type: 'left'; total: number }
  /** The reader asked for the end. */
  | { type: 'jumped' };

export function startFollow(following: boolean, total: number): FollowState {
  return { following, led: false, top: 0, seen: total };
}

export function follow(state: FollowState, input: FollowInput): FollowState {
  switch (input.type) {
    case 'scrolled': {
      const { top, max, total } = input;
      const left = max - top;
      if (top < state.top) {
        // Shorter contents pull a list up that stays at its end; anything else is the reader.
        return left <= 1 ? { ...state, top } : leave({ ...state, top }, total);
      }
      if (top > state.top && left <= nearEnd && !state.led) return { ...state, following: true, top };
      return { ...state, top };
    }
    case 'pinned':
      return { ...state, top: input.top };
    case 'pulled':
      return input.top > 0 ? { ...leave(state, input.total), led: false } : state;
    case 'pushed':
      return { ...state, led: false, following: state.following || input.max - input.top <= nearEnd };
    case 'taken':
      return { ...state, led: false };
    case 'left':
      return { ...leave(state, input.total), led: true };
    case 'jumped':
      return { ...state, led: false, following: true };
  }
}

/** How many rows came since the reader left the end. */
export function newRows(state: FollowState, total: number): number {
  return state.following ? 0 : Math.max(0, total - state.seen);
}

function leave(state: FollowState, total: number): FollowState {
  return state.following ? { ...state, following: false, seen: total } : state;
}

/** The state of one list, for React and for code that must know at once. */
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
