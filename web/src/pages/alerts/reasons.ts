import type { LucideIcon } from 'lucide-react';
import { BellOff, CircleCheckBig, CloudLightning, Copy, Wrench } from 'lucide-react';
import type { Reason } from './search';

/** Why an alert was not investigated automatically, as a label and a sentence. */
export const reasonLooks: Record<Reason, { label: string; sentence: string; icon: LucideIcon }> = {
  duplicate: { label: 'Repeated', sentence: 'The same alert is being investigated, or was recently.', icon: Copy },
  storm: {
    label: 'Storm',
    sentence: 'One session investigates the alerts of this group together.',
    icon: CloudLightning,
  },
  silence: { label: 'Silenced', sentence: 'It matches a silence.', icon: BellOff },
  maintenance: { label: 'Maintenance', sentence: 'It matches a maintenance window.', icon: Wrench },
  resolved: { label: 'Resolved', sentence: 'It was resolved before it was investigated.', icon: CircleCheckBig },
};
