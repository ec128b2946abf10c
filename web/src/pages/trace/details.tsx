/** The selected call in full. */
import type { Call } from './calls';
import { names } from './calls';
import { LLMDetails } from './llm';
import { MCPDetails } from './mcp';
import type { CallRow } from './rows';

/** The name of a call, with its number if the row is known. */
export function CallTitle({
  id,
  row,
  call,
}: {
  id: string | undefined;
  row: CallRow | undefined;
  call: Call | undefined;
}) {
  if (call === undefined) return id === undefined ? 'No call selected' : 'Unknown call';
  const { label, hint } = row ?? names(call);
  return (
    <>
      {row?.number && <span className="mr-2 font-mono text-[13px] font-normal text-ink-soft">{row.number}</span>}
      {call.kind === 'mcp' ? (
        <span className="font-mono text-[13px]">{label}</span>
      ) : (
        <span className="inline-block first-letter:uppercase">{label}</span>
      )}
      <span className="ml-2 font-normal text-ink-faint">{hint}</span>
    </>
  );
}

export function Details({
  sessionId,
  id,
  call,
}: {
  sessionId: string;
  id: string | undefined;
  call: Call | undefined;
}) {
  if (id === undefined) {
    return <p className="p-4 text-ink-soft">Select a call to see its request and its response.</p>;
  }
  if (call === undefined) return <p className="p-4 text-ink-soft">This call is not in the trace of this session.</p>;
  return call.kind === 'llm' ? (
    <LLMDetails key={id} sessionId={sessionId} id={id} />
  ) : (
    <MCPDetails key={id} sessionId={sessionId} id={id} status={call.item.status} />
  );
}
