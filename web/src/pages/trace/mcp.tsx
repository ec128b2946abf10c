/** An MCP call in full: the arguments and the result. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ListTree } from 'lucide-react';
import { useEffect } from 'react';
import * as queries from '@/api/queries';
import type { MCPInteraction } from '@/api/types';
import { ResultView } from '@/result/result-view';
import { duration } from '@/text/format';
import { payloadOf } from '@/text/payload';
import { Answer } from '@/ui/answer';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { Failure } from '@/ui/failure';
import { StatusBadge } from '@/ui/status';
import { ClockTime } from '@/ui/time';
import { Block } from './block';
import { statusOf } from './calls';
import { Fact, Facts } from './facts';
import { fetchCommand, plainJson, toolCommand, toolRequest } from './request';

export function MCPDetails({ sessionId, id, status }: { sessionId: string; id: string; status: string }) {
  const query = useQuery(queries.mcpInteraction(sessionId, id));
  const { data, refetch } = query;
  useEffect(() => {
    // The trace reports a newer status than the loaded call.
    if (data !== undefined && data.status !== status) void refetch();
  }, [data, status, refetch]);
  return (
    <Answer query={query} what="the call" rows={8}>
      {(call) => <Call call={call} />}
    </Answer>
  );
}

function Call({ call }: { call: MCPInteraction }) {
  const status = statusOf({ kind: 'mcp', item: { ...call, summarized: call.summary !== '' } });
  return (
    <div className="space-y-4 p-3 sm:p-4">
      <div className="flex flex-wrap items-center gap-1" data-testid="copy-call">
        <CopyButton showLabel label="Copy JSON" text={() => plainJson(call, 2)} />
        <CopyButton
          showLabel
          label="Copy curl"
          text={() => fetchCommand(window.location.origin, call.session_id, 'mcp', call.id)}
        />
        <CopyButton showLabel label="Copy JSON-RPC" text={() => plainJson(toolRequest(call), 2)} />
        <CopyButton showLabel label="Copy JSON-RPC as curl" text={() => toolCommand(call)} />
        {call.timeline_event_id !== '' && (
          <Button asChild size="sm" variant="ghost">
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: call.session_id }}
              search={{ event: call.timeline_event_id }}
            >
              <ListTree aria-hidden /> Show in timeline
            </Link>
          </Button>
        )}
      </div>
      <Facts>
        <Fact name="Status">
          <StatusBadge status={status} />
        </Fact>
        <Fact name="Server">{call.server_name}</Fact>
        <Fact name="Tool">{call.tool_name}</Fact>
        <Fact name="Duration">{call.status === 'started' ? 'running' : duration(call.duration_ms)}</Fact>
        <Fact name="Attempt">{call.attempt}</Fact>
        <Fact name="Access">{call.read_only ? 'read-only' : 'can write'}</Fact>
        <Fact name="Started">
          <ClockTime at={call.created_at} />
        </Fact>
      </Facts>
      {call.error_message !== '' && <Failure message={call.error_message} />}
      <Block title="Arguments" text={payloadOf(call.tool_arguments).text} open />
      {call.summary !== '' && <Block title="Summary" note="given to the model" text={call.summary} open />}
      {call.status === 'started' ? (
        <p className="text-ink-soft">Waiting for the result.</p>
      ) : (
        <CallResult call={call} />
      )}
      {call.available_tools.length > 0 && (
        <Block
          title="Available tools"
          note={String(call.available_tools.length)}
          text={call.available_tools.join('\n')}
          open={false}
        />
      )}
    </div>
  );
}

/** Collapsed below a summary, which is what the model saw. */
function CallResult({ call }: { call: MCPInteraction }) {
  const view = <ResultView text={call.tool_result} label={call.is_error ? 'Result: error' : 'Result'} />;
  if (call.summary === '') return <div className="rounded-md border border-line bg-surface p-2">{view}</div>;
  return (
    <Block title="Result" note={call.is_error ? 'the tool reported an error' : undefined} text="" open={false}>
      {view}
    </Block>
  );
}
