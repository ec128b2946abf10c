/**
 * Which actions a session allows now and, if one is refused, why. The server enforces it; this only avoids requests
 * that would be rejected.
 */
import { isOver } from '@/api/status';
import type { Me, SessionStatus } from '@/api/types';

export type Permit =
  | { state: 'allowed' }
  /** The action exists, but not for this person or not now. */
  | { state: 'refused'; reason: string }
  /** The action does not apply. */
  | { state: 'absent' };

const allowed: Permit = { state: 'allowed' };
const absent: Permit = { state: 'absent' };

/** Restricts a permit to the write scope. Scopes that are not loaded yet count as sufficient. */
function withWrite(scopes: Me['scopes'] | undefined, permit: Permit): Permit {
  if (permit.state !== 'allowed' || scopes === undefined || scopes.includes('write')) return permit;
  return {
    state: 'refused',
    reason: 'Your access is read-only. Log in with the role responder, or with a key that has the write scope.',
  };
}

interface Situation {
  status: SessionStatus;
  /** A question is waiting or being answered. */
  answering: boolean;
  /** A cancellation was accepted but is not visible in the status yet. */
  cancelAsked: boolean;
  scopes: Me['scopes'] | undefined;
}

export function permitToCancel({ status, answering, cancelAsked, scopes }: Situation): Permit {
  if (isOver(status) && !answering) return absent;
  if (status === 'cancelling' || cancelAsked) return { state: 'refused', reason: 'Already being cancelled.' };
  return withWrite(scopes, allowed);
}

export function permitToRerun({ scopes }: Pick<Situation, 'scopes'>): Permit {
  return withWrite(scopes, allowed);
}

/** Whether a question can be sent. Text typed in the meantime is kept. */
export function permitToAsk({ status, answering, scopes }: Omit<Situation, 'cancelAsked'>): Permit {
  if (!isOver(status)) return { state: 'refused', reason: 'You can ask once the investigation is over.' };
  if (status === 'cancelled')
    return { state: 'refused', reason: 'A cancelled session takes no questions. Re-run it to ask.' };
  if (answering) return { state: 'refused', reason: 'One question at a time: wait for the answer, or stop it.' };
  return withWrite(scopes, allowed);
}
