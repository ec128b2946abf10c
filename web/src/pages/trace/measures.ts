/** How much more or less the second of two has. */
export function difference(by: number, show: (value: number) => string): string {
  if (by === 0) return 'same';
  return `${by > 0 ? '+' : '−'}${show(Math.abs(by))}`;
}
