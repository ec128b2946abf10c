/** Reports whether a session, stage or execution with this status has ended. */
export function isOver(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'timed_out';
}
