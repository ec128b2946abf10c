/** One alert that was not investigated automatically, with a button to investigate it. */
import { CircleCheckBig } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SuppressedAlert } from '@/api/types';
import { Badge } from '@/ui/badge';
import { Ago } from '@/ui/time';
import { FactLine, titleOf } from './facts';
import { Investigate } from './investigate';
import { SeverityBadge } from './severity';
import { Repeats } from './state';

export function SuppressedRow({ alert, children }: { alert: SuppressedAlert; children?: ReactNode }) {
  return (
    <li
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 py-2"
      data-testid="suppressed-alert"
      data-suppressed-id={alert.id}
      data-reason={alert.reason}
    >
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5">
          <SeverityBadge severity={alert.severity} />
          <span className="min-w-0 font-medium break-words">{titleOf(alert)}</span>
          {!alert.firing && alert.reason !== 'resolved' && (
            <Badge tone="good" icon={CircleCheckBig}>
              Resolved
            </Badge>
          )}
          {alert.occurrences > 1 ? (
            <Repeats alert={alert} />
          ) : (
            <Ago at={alert.last_at} className="text-xs text-ink-soft" />
          )}
        </p>
        <FactLine alert={alert} className="block text-xs break-words text-ink-soft" />
        {children}
      </div>
      <Investigate alert={alert} />
    </li>
  );
}
