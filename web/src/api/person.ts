/** Decides what belongs to the caller. Names are for display and are not unique. */
import type { Feedback, Me } from './types';

type Who = Pick<Me, 'name' | 'id'>;

/** Reports whether a name and its identity are the caller's. Names are compared only if either side has no identity. */
export function isMe(who: Who | undefined, name: string, id: string): boolean {
  if (!who) return false;
  return who.id && id ? who.id === id : who.name === name;
}

/**
 * Returns the caller's feedback as the server would: matched by identity, else by name among entries without an
 * identity.
 */
export function ownFeedback<F extends Pick<Feedback, 'author' | 'author_id'>>(
  who: Who | undefined,
  all: readonly F[] = [],
): F | undefined {
  const own = all.filter((each) => isMe(who, each.author, each.author_id));
  return own.find((each) => each.author_id !== '') ?? own[0];
}
