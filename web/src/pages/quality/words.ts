/** Formats the numbers of the Quality page. */
import type { QualityRow } from '@/api/types';
import { counted, duration, percent } from '@/text/format';

/** Returns the number of ratings. */
export function opinions({ right, partly, wrong }: Pick<QualityRow, 'right' | 'partly' | 'wrong'>): number {
  return right + partly + wrong;
}

/** Returns "75%", or a dash if there are no ratings. */
export function agreementOf({ agreement }: Pick<QualityRow, 'agreement'>): string {
  return agreement === null ? '–' : percent(agreement);
}

/** Returns the ratings behind an agreement, such as "3 right, 1 wrong". */
export function ratingsOf({ right, partly, wrong }: Pick<QualityRow, 'right' | 'partly' | 'wrong'>): string {
  const said = [
    [right, 'right'],
    [partly, 'partly right'],
    [wrong, 'wrong'],
  ] as const;
  return said.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ') || 'no ratings';
}

export function timeOf(ms: number | null): string {
  return ms === null ? '–' : duration(ms);
}

/** Returns a count such as "12 sessions, 3 without a verdict". */
export function sessionsOf(row: Pick<QualityRow, 'sessions' | 'outcomes'>): string {
  const concluded = Object.values(row.outcomes).reduce((sum, count) => sum + count, 0);
  const without = row.sessions - concluded;
  return without > 0
    ? `${counted(row.sessions, 'session')}, ${without} without a verdict`
    : counted(row.sessions, 'session');
}
