/** What is the caller's own. Names are for reading: others may have the same. */
import type { Feedback, Me } from './types';

type Who = Pick<Me, 'name' | 'id'>;

/** Whether a name with its identity is the caller. The name decides only where one of both has no identity. */
export function isMe(who: Who | undefined, name: string, id: string): boolean {
  if (!who) return false;
  return who.id && id ? who.id === id : who.name === name;
}

/** The caller's feedback, as the server finds it: by identity, else the one of their name that has none. */
export function ownFeedback<F extends Pick<Feedback, 'author' | 'author_id'>>(
  who: Who | undefined,
  all: readonly F[] = [],
): F | undefined {
  const own = all.filter((each) => isMe(who, each.author, each.author_id));
  return own.find((each) => each.author_id !== '') ?? own[0];
}
