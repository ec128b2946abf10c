/** What an alert is about: its name, and what it concerns. */
import { Fragment } from 'react';
import type { SessionItem } from '@/api/types';

type Named = Pick<SessionItem, 'title' | 'alert_type'>;
type Concerned = Named & Pick<SessionItem, 'service' | 'namespace' | 'cluster' | 'team'>;

/** The name of an alert for people. Sessions of old releases have the alert type only. */
export function titleOf({ title, alert_type }: Named): string {
  return title || alert_type;
}

interface Fact {
  name: string;
  value: string;
}

/** What is known, the alert type first unless it is the title already. */
export function factsOf(alert: Concerned): Fact[] {
  return [
    { name: 'Alert type', value: alert.alert_type === titleOf(alert) ? '' : alert.alert_type },
    { name: 'Service', value: alert.service },
    { name: 'Namespace', value: alert.namespace },
    { name: 'Cluster', value: alert.cluster },
    { name: 'Team', value: alert.team },
  ].filter(({ value }) => value !== '');
}

/** The facts in one line. Each tells its name to a screen reader and in a tooltip. */
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
