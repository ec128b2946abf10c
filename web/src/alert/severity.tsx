import { CircleAlert, Info, type LucideIcon, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { Severity } from '@/api/types';
import { Badge, type Tone } from '@/ui/badge';
import { cn } from '@/ui/cn';
import type { KnownSeverity } from './severities';

const looks: Record<KnownSeverity, { label: string; icon: LucideIcon; tone: Tone; className?: string }> = {
  critical: { label: 'Critical', icon: OctagonAlert, tone: 'bad', className: 'bg-bad text-surface' },
  high: { label: 'High', icon: TriangleAlert, tone: 'bad' },
  warning: { label: 'Warning', icon: CircleAlert, tone: 'warn' },
  info: { label: 'Info', icon: Info, tone: 'idle' },
};

export function severityLabel(severity: KnownSeverity): string {
  return looks[severity].label;
}

/** The severity of an alert; renders nothing if it has none. */
export function SeverityBadge({ severity }: { severity: Severity }) {
  if (severity === '') return null;
  const { label, className, ...look } = looks[severity];
  return (
    <Badge {...look} className={cn('shrink-0', className)} data-severity={severity} data-testid="severity">
      <span className="sr-only">Severity </span>
      {label}
    </Badge>
  );
}
