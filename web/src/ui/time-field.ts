/** A time as the browser's field for date and time has it, in the time zone of the reader. */
export function toField(at: string | Date | undefined): string {
  if (at === undefined) return '';
  const time = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The time in the field; undefined while it has none. */
export function fromField(value: string): string | undefined {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
