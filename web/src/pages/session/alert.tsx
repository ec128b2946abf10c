/** The alert as stored, with everything submitted along with it. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { StormMembers, stormSize } from '@/alert/storm';
import type { AlertState, MCPSelection, SessionDetail } from '@/api/types';
import { SafeLink } from '@/text/link';
import { Markdown } from '@/text/markdown';
import { payloadOf } from '@/text/payload';
import { PayloadView } from '@/text/payload-view';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { DateTime } from '@/ui/time';
import { LabelsSection, StateSection } from './alert-sections';
import { isLong, Section } from './fold';

export function AlertCard({ session, alert }: { session: SessionDetail; alert: AlertState | null }) {
  const payload = useMemo(() => payloadOf(session.alert_data), [session.alert_data]);
  return (
    <Card data-testid="alert">
      <CardHeader>
        <CardTitle>Alert</CardTitle>
        <span className="text-[13px] text-ink-soft">
          Received <DateTime at={session.created_at} />
        </span>
      </CardHeader>
      <div>
        <Section title="Payload" open={!isLong(payload.text, 12)}>
          <PayloadView
            label={payload.json ? 'JSON' : 'Text'}
            value={session.alert_data}
            empty="The alert has no payload."
          />
        </Section>
        {alert && <StateSection alert={alert} startsAt={session.starts_at} />}
        {alert?.storm && (
          <Section title={stormSize(alert)} open>
            <StormMembers sessionId={session.id} className="-mx-4 max-h-96 overflow-y-auto" />
          </Section>
        )}
        <LabelsSection labels={session.labels} />
        {(session.runbook || session.runbook_url) && (
          <Section title="Runbook" open={!session.runbook || !isLong(session.runbook, 12)}>
            {session.runbook_url && (
              <p className="mb-2 break-all">
                <SafeLink href={session.runbook_url}>{session.runbook_url}</SafeLink>
              </p>
            )}
            {session.runbook && <Markdown text={session.runbook} className="max-w-[75ch]" />}
          </Section>
        )}
        {session.mcp_selection && (
          <Section title="Selected tools" open>
            <Selection selection={session.mcp_selection} />
          </Section>
        )}
        <Section title="Details" open={false}>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px] [&_dd]:break-words [&_dt]:text-ink-faint">
            <dt>Session</dt>
            <dd className="font-mono">{session.id}</dd>
            <dt>Alert type</dt>
            <dd>{session.alert_type}</dd>
            <dt>Source</dt>
            <dd>{[session.source, session.receiver].filter(Boolean).join(' / ')}</dd>
            {session.fingerprint && (
              <>
                <dt>Fingerprint</dt>
                <dd className="break-all">
                  <Link
                    to="/"
                    search={{ fingerprint: session.fingerprint }}
                    title="Show all sessions with this fingerprint"
                    className="font-mono text-accent underline underline-offset-2"
                    data-testid="alert-fingerprint"
                  >
                    {session.fingerprint}
                  </Link>
                </dd>
              </>
            )}
            <dt>Chain</dt>
            <dd>{session.chain_id}</dd>
            <dt>Started</dt>
            <dd>{session.started_at ? <DateTime at={session.started_at} /> : 'not yet'}</dd>
            <dt>Author</dt>
            <dd>{session.author}</dd>
            <dt>Tool calls</dt>
            <dd>{session.tool_calls}</dd>
            {session.pod_id && (
              <>
                <dt>Server</dt>
                <dd>{session.pod_id}</dd>
              </>
            )}
          </dl>
        </Section>
      </div>
    </Card>
  );
}

function Selection({ selection }: { selection: MCPSelection }) {
  const native = Object.entries(selection.native_tools ?? {}).filter(([, on]) => on !== undefined);
  return (
    <ul className="list-disc space-y-1 pl-5">
      {selection.servers.map((server) => (
        <li key={server.name} className="break-words">
          <span className="font-medium">{server.name}</span>:{' '}
          {server.tools && server.tools.length > 0 ? server.tools.join(', ') : 'all tools'}
        </li>
      ))}
      {native.map(([name, on]) => (
        <li key={name}>
          {name.replaceAll('_', ' ')}: {on ? 'on' : 'off'}
        </li>
      ))}
    </ul>
  );
}
