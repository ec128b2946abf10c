import type { Severity } from '@/api/types';

/** The severity that the sender reports. */
export type KnownSeverity = Exclude<Severity, ''>;

/** Worst first. */
export const severities = ['critical', 'high', 'warning', 'info'] as const satisfies readonly KnownSeverity[];
