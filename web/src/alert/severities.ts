import type { Severity } from '@/api/types';

/** How bad an alert says that it is. */
export type KnownSeverity = Exclude<Severity, ''>;

/** Worst first. */
export const severities = ['critical', 'high', 'warning', 'info'] as const satisfies readonly KnownSeverity[];
