import type { SessionItem } from '@/api/types';
import { counted } from '@/text/format';
import type { Progress } from '@/ui/progress';

/** Returns how far a session is through its chain. Stages are counted from 1; 0 means that it has not started. */
export function progressOf(row: Pick<SessionItem, 'status' | 'stage_count' | 'current_stage_index'>): Progress {
  const current = row.current_stage_index;
  const total = Math.max(row.stage_count, current, 1);
  const at = `stage ${current} of ${total}`;
  const past = Math.max(0, current - 1);
  switch (row.status) {
    case 'completed':
      return {
        total,
        done: total,
        tone: 'good',
        label: total === 1 ? '1 stage done' : `All ${total} stages done`,
      };
    case 'in_progress':
      return { total, done: past, tone: 'running', label: current === 0 ? 'Starting' : `In ${at}` };
    case 'cancelling':
      return { total, done: past, tone: 'running', label: current === 0 ? 'Cancelling' : `Cancelling in ${at}` };
    case 'failed':
      return {
        total,
        done: past,
        tone: 'bad',
        label: current === 0 ? 'Failed before the first stage' : `Failed in ${at}`,
      };
    case 'timed_out':
      return {
        total,
        done: past,
        tone: 'warn',
        label: current === 0 ? 'Timed out before the first stage' : `Timed out in ${at}`,
      };
    case 'cancelled':
      return {
        total,
        done: past,
        tone: 'idle',
        label: current === 0 ? 'Cancelled before the first stage' : `Cancelled in ${at}`,
      };
    case 'pending':
      return { total, done: 0, tone: 'idle', label: `Queued, ${counted(total, 'stage')}` };
  }
}
