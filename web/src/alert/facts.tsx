/** The name of an alert and its facts: service, namespace, cluster, team. */
import { Fragment } from 'react';
import type { SessionItem } from '@/api/types';

type Named = Pick<SessionItem, 'title' | 'alert_type'>;
type Concerned = Named & Pick<SessionItem, 'service' | 'namespace' | 'cluster' | 'team'>;

/** Returns the display name of an alert. Sessions of old releases have only an alert type. */
export function titleOf({ title, alert_type }: Named): string {
  return title || alert_type;
}

interface Fact {
  name: string;
  value: string;
}

/** Returns the facts that are set, the alert type first unless it is already the title. */
export function factsOf(alert: Concerned): Fact[] {
  return [
    { name: 'Alert type', value: alert.alert_type === titleOf(alert) ? '' : alert.alert_type },
    { name: 'Service', value: alert.service },
    { name: 'Namespace', value: alert.namespace },
    { name: 'Cluster', value: alert.cluster },
    { name: 'Team', value: alert.team },
  ].filter(({ value }) => value !== '');
}

/** The facts in one line. A screen reader and a tooltip name each fact. */
export function FactLine({ alert, className }: { alert: Concerned; className?: string }) {
  const facts = factsOf(alert);
  if (facts.length === 0) return null;
  return (
    <span className={className} data-testid="alert-facts">
      {facts.map(({ name, value }, place) => (
        <Fragment key={name}>
          {place > 0 && <span className="text-ink-faint"> · </span>}
          <span title={`${name}: ${value}`}>
            <span className="sr-only">{name} </span>
            {value}
          </span>
        </Fragment>
      ))}
    </span>
  );
}
