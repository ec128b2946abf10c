/** Alerts as Alertmanager delivers them. */
import type { Server } from './server';

export interface SentAlert {
  labels: Record<string, string>;
  annotations?: Record<string, string>;
  resolved?: boolean;
}

interface DeliveryResult {
  alerts: { action: string; session_id: string | null; suppressed_id: string | null }[];
}

let deliveries = 0;

/**
 * Delivers alerts in one call and returns the action for each. Each delivery is unique, because a repeated one would
 * change nothing.
 */
export async function deliver(server: Server, ...alerts: SentAlert[]): Promise<DeliveryResult['alerts']> {
  deliveries++;
  const result = await server.ask<DeliveryResult>('POST', '/api/v1/webhooks/alertmanager/default', {
    version: '4',
    groupKey: `{}:{delivery="${deliveries}"}`,
    status: 'firing',
    receiver: 'tarsy',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager.example:9093',
    alerts: alerts.map(({ labels, annotations = {}, resolved = false }) => ({
      status: resolved ? 'resolved' : 'firing',
      labels,
      annotations,
      startsAt: '2026-11-16T09:12:41Z',
      endsAt: resolved ? '2026-11-16T09:22:41Z' : '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example:9090/graph?g0.expr=up',
    })),
  });
  return result.alerts;
}

/** Returns alerts of one group, each for a different pod. */
export function podAlerts(alertname: string, count: number, first = 1): SentAlert[] {
  return Array.from({ length: count }, (_, n) => ({
    labels: { alertname, namespace: 'shop', cluster: 'prod-eu', severity: 'warning', pod: `web-${first + n}` },
    annotations: { summary: `${alertname} on web-${first + n}` },
  }));
}
