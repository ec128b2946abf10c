/** The last row of the log, and how to verify all of it. */
import { useQuery } from '@tanstack/react-query';
import { auditHead } from '@/api/audit';
import { Answer } from '@/ui/answer';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { CopyButton } from '@/ui/copy';
import { DateTime } from '@/ui/time';

const command = 'tarsy audit verify';

export function Head() {
  const head = useQuery(auditHead());
  return (
    <Card aria-labelledby="audit-verify">
      <CardHeader>
        <CardTitle id="audit-verify">Verify the log</CardTitle>
      </CardHeader>
      <CardBody className="space-y-2">
        <p className="max-w-[75ch]">
          Each row contains the hash of the row before it, so a changed, removed or inserted row is found. This page
          does not verify: a server that was tampered with could claim anything. Run the command on another machine; it
          checks every row and compares the log with its last verification.
        </p>
        <p className="flex flex-wrap items-center gap-2">
          <code className="rounded bg-sunken px-2 py-1 font-mono text-xs">{command}</code>
          <CopyButton text={command} label="Copy the command" />
        </p>
        <Answer query={head} what="the last row" rows={1}>
          {(last) =>
            last && (
              <p className="text-[13px] [overflow-wrap:anywhere] text-ink-soft" data-testid="audit-head">
                Last row: {last.id}, <DateTime at={last.at} />, hash{' '}
                <span className="font-mono text-xs">{last.hash}</span>
              </p>
            )
          }
        </Answer>
      </CardBody>
    </Card>
  );
}
