/** The approval that a tool call needs, as the metadata of its event holds it. */
import type { Approval } from './message';
import type { EventView } from './view';

/** Undefined if the call needs none. */
export function approvalOf(event: EventView | undefined): Approval | undefined {
  const approval: unknown = event?.metadata?.approval;
  if (typeof approval !== 'object' || approval === null || !('status' in approval)) return undefined;
  return approval as Approval;
}

/** Whether nobody has decided yet on the call of an event. A call that has ended waits for nobody, whatever it holds. */
export function waitsForApproval(event: EventView | undefined): boolean {
  return event?.status === 'streaming' && approvalOf(event)?.status === 'waiting';
}
