/** The approval that a tool call needs, from the metadata of its event. */
import type { Approval } from './message';
import type { EventView } from './view';

/** Returns the approval, or undefined if the call needs none. */
export function approvalOf(event: EventView | undefined): Approval | undefined {
  const approval: unknown = event?.metadata?.approval;
  if (typeof approval !== 'object' || approval === null || !('status' in approval)) return undefined;
  return approval as Approval;
}

/**
 * Reports whether the call of an event waits for a decision. A call that has ended waits for none, whatever its
 * metadata says.
 */
export function waitsForApproval(event: EventView | undefined): boolean {
  return event?.status === 'streaming' && approvalOf(event)?.status === 'waiting';
}
