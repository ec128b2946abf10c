/** An empty system: how the first alert gets here, with this server's own address and alert types. */
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
      <h2 className="text-lg font-semibold">No alert has arrived yet</h2>
      <p className="mt-1 text-ink-soft">
        Send the first one, and its investigation appears here as it runs. Any of these ways does:
      </p>
      <ol className="mt-4 space-y-3">
        <Way title="In the browser" action={<SubmitLink />}>
          <p className="text-ink-soft">Paste the alert or drop a file, choose its type, and watch what happens.</p>
        </Way>
        <Way
          title="From a script or an alert manager"
          action={<CopyButton text={curlCommand(wanted)} label="Copy the curl command" />}
        >
          <Code text={curlCommand(wanted)} />
        </Way>
        <Way
          title="From a terminal"
          action={<CopyButton text={submitCommand(wanted)} label="Copy the tarsy command" />}
        >
          <Code text={submitCommand(wanted)} />
        </Way>
      </ol>
      {wanted.authRequired && (
        <p className="mt-3 text-ink-soft">
          <code className="font-mono text-xs text-ink">TARSY_TOKEN</code> holds an API key with the scope write:{' '}
          <code className="font-mono text-xs text-ink">tarsy keys create me --scope write</code>
        </p>
      )}
      <p className="mt-3 text-ink-soft">
        Only looking around? <code className="font-mono text-xs text-ink">tarsy demo</code> starts a server of its own
        with example alerts and a scripted model; it needs no key.
      </p>
    </div>
  );
}

function SubmitLink() {
  return (
    <Button asChild variant="primary" size="sm">
      <Link to="/submit">
        <Send aria-hidden /> Submit an alert
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
