/** The empty state of the list: how to submit the first alert, with this server's address and alert types. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import type { ReactNode } from 'react';
import * as queries from '@/api/queries';
import { Button } from '@/ui/button';
import { Card, CardBody } from '@/ui/card';
import { Code } from '@/ui/code';
import { CopyButton } from '@/ui/copy';
import { curlCommand, submitCommand } from './first-alert';

export function FirstVisit() {
  const types = useQuery(queries.alertTypes());
  const { data: who } = useQuery(queries.me());
  const wanted = {
    origin: globalThis.location.origin,
    alertType: types.data?.alert_types[0]?.name,
    authRequired: who?.auth_required ?? false,
  };
  return (
    <div className="mx-auto max-w-3xl py-8" data-testid="empty-first-visit">
      <h2 className="text-lg font-semibold">No alerts yet</h2>
      <p className="mt-1 text-ink-soft">
        Investigations appear here while they run. Submit the first alert in one of these ways:
      </p>
      <ol className="mt-4 space-y-3">
        <Way title="In the browser" action={<SubmitLink />}>
          <p className="text-ink-soft">Paste the alert or drop a file, choose its type, and watch the investigation.</p>
        </Way>
        <Way
          title="From a script or an alert manager"
          action={<CopyButton text={curlCommand(wanted)} label="Copy curl command" />}
        >
          <Code text={curlCommand(wanted)} />
        </Way>
        <Way title="From a terminal" action={<CopyButton text={submitCommand(wanted)} label="Copy tarsy command" />}>
          <Code text={submitCommand(wanted)} />
        </Way>
      </ol>
      {wanted.authRequired && (
        <p className="mt-3 text-ink-soft">
          Set <code className="font-mono text-xs text-ink">TARSY_TOKEN</code> to an API key with the write scope:{' '}
          <code className="font-mono text-xs text-ink">tarsy keys create me --scope write</code>
        </p>
      )}
      <p className="mt-3 text-ink-soft">
        Just trying it out? <code className="font-mono text-xs text-ink">tarsy demo</code> starts a separate server with
        example alerts and a scripted model. It needs no API key.
      </p>
    </div>
  );
}

function SubmitLink() {
  return (
    <Button asChild variant="primary" size="sm">
      <Link to="/submit">
        <Send aria-hidden /> Submit alert
      </Link>
    </Button>
  );
}

function Way({ title, action, children }: { title: string; action: ReactNode; children: ReactNode }) {
  return (
    <li>
      <Card>
        <CardBody className="space-y-2 py-3">
          <div className="flex min-h-8 items-center justify-between gap-2">
            <h3 className="font-semibold">{title}</h3>
            {action}
          </div>
          {children}
        </CardBody>
      </Card>
    </li>
  );
}
