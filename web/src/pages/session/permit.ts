/** What may be done with a session now, by whom, and why not. The server decides; this only keeps people from asking in vain. */
import { isOver } from '@/api/status';
import type { Me, SessionStatus } from '@/api/types';

export type Permit =
  | { state: 'allowed' }
  /** There is such a thing to do, but not for this person or not now. */
  | { state: 'refused'; reason: string }
  /** There is nothing to do. */
  | { state: 'absent' };

const allowed: Permit = { state: 'allowed' };
const absent: Permit = { state: 'absent' };

/** Whether the key may change things. Undefined until the scopes are loaded. */
function withWrite(scopes: Me['scopes'] | undefined, permit: Permit): Permit {
  if (permit.state !== 'allowed' || scopes === undefined || scopes.includes('write')) return permit;
  return {
    state: 'refused',
    reason: 'Your access is read-only. Log in with the role responder, or with a key that has the write scope.',
  };
}

interface Situation {
  status: SessionStatus;
  /** A question is asked or answered. */
  answering: boolean;
  /** A cancel was accepted and has not shown yet. */
  cancelAsked: boolean;
  scopes: Me['scopes'] | undefined;
}

export function mayCancel({ status, answering, cancelAsked, scopes }: Situation): Permit {
  if (isOver(status) && !answering) return absent;
  if (status === 'cancelling' || cancelAsked) return { state: 'refused', reason: 'Already being cancelled.' };
  return withWrite(scopes, allowed);
}

export function mayRerun({ scopes }: Pick<Situation, 'scopes'>): Permit {
  return withWrite(scopes, allowed);
}

/** Whether a question can be sent. What is typed meanwhile is kept. */
export function mayAsk({ status, answering, scopes }: Omit<Situation, 'cancelAsked'>): Permit {
  if (!isOver(status)) return { state: 'refused', reason: 'You can ask once the investigation is over.' };
  if (status === 'cancelled')
    return { state: 'refused', reason: 'A cancelled session takes no questions. Re-run it to ask.' };
  if (answering) return { state: 'refused', reason: 'One question at a time: wait for the answer, or stop it.' };
  return withWrite(scopes, allowed);
}
