const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Returns how long ago something was, in one unit, for lists. */
export function age(from: string | Date, now: Date): string {
  const span = Math.max(0, now.getTime() - new Date(from).getTime());
  if (span < 10 * second) return 'now';
  if (span < minute) return `${Math.floor(span / second)} s`;
  if (span < hour) return `${Math.floor(span / minute)} m`;
  if (span < day) return `${Math.floor(span / hour)} h`;
  return `${Math.floor(span / day)} d`;
}
