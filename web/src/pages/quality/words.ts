/** Numbers of the Quality page for people. */
import type { QualityRow } from '@/api/types';
import { counted, duration, percent } from '@/text/format';

/** How many opinions there are. */
export function opinions({ right, partly, wrong }: Pick<QualityRow, 'right' | 'partly' | 'wrong'>): number {
  return right + partly + wrong;
}

/** "75%", or a dash where nobody said anything. */
export function agreementOf({ agreement }: Pick<QualityRow, 'agreement'>): string {
  return agreement === null ? '–' : percent(agreement);
}

/** "3 right, 1 wrong": what an agreement is made of. */
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

/** "12 sessions, 3 without a verdict". */
export function sessionsOf(row: Pick<QualityRow, 'sessions' | 'outcomes'>): string {
  const concluded = Object.values(row.outcomes).reduce((sum, count) => sum + count, 0);
  const without = row.sessions - concluded;
  return without > 0
    ? `${counted(row.sessions, 'session')}, ${without} without a verdict`
    : counted(row.sessions, 'session');
}
