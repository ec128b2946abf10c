import type { LucideIcon } from 'lucide-react';
import { BellOff, CircleCheckBig, CloudLightning, Copy, Wrench } from 'lucide-react';
import type { Reason } from './search';

/** Why an alert was not investigated by itself, in a word and in a sentence. */
export const reasonLooks: Record<Reason, { label: string; sentence: string; icon: LucideIcon }> = {
  duplicate: { label: 'Repeated', sentence: 'The same alert is or was investigated recently.', icon: Copy },
  storm: {
    label: 'Storm',
    sentence: 'One session investigates the alerts of the group together.',
    icon: CloudLightning,
  },
  silence: { label: 'Silenced', sentence: 'A silence matches.', icon: BellOff },
  maintenance: { label: 'Maintenance', sentence: 'A maintenance window of the configuration matches.', icon: Wrench },
  resolved: { label: 'Resolved', sentence: 'It was over before anything investigated it.', icon: CircleCheckBig },
};
