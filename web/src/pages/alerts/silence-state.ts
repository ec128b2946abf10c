import type { Silence } from '@/api/types';
import type { Tone } from '@/ui/badge';

interface SilenceState {
  state: 'pending' | 'active' | 'ended';
  label: string;
  tone: Tone;
}

type Times = Pick<Silence, 'starts_at' | 'ends_at' | 'ended_by'>;

/** Returns the state of a silence at a time. */
export function silenceState({ starts_at, ends_at, ended_by }: Times, now: Date): SilenceState {
  if (ended_by !== '' || new Date(ends_at) <= now) return { state: 'ended', label: 'Ended', tone: 'idle' };
  if (new Date(starts_at) > now) return { state: 'pending', label: 'Not started', tone: 'idle' };
  return { state: 'active', label: 'Active', tone: 'running' };
}
