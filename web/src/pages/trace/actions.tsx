/** The actions of the trace page, in its header and in the palette. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ChevronsDownUp, ChevronsUpDown, Columns2, Download, X } from 'lucide-react';
import { useState } from 'react';
import { exportAddress } from '@/api/export';
import type { SessionDetail, Trace } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { shortId } from '@/text/format';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { Menu, MenuContent, MenuItem, MenuTrigger } from '@/ui/overlay';
import { type Call, firstFailed, slowest } from './calls';
import { comparable } from './compare';
import { CompareDialog } from './compare-dialog';

const route = getRouteApi('/shell/sessions/$sessionId/trace');

export function TraceActions({
  trace,
  session,
  calls,
  selected,
  comparing,
  folded,
  onFold,
}: {
  trace: Trace;
  /** Undefined until loaded. */
  session: SessionDetail | undefined;
  calls: ReadonlyMap<string, Call>;
  selected: string | undefined;
  comparing: boolean;
  folded: boolean;
  onFold: (fold: boolean) => void;
}) {
  const { session_id: sessionId } = trace;
  const navigate = route.useNavigate();
  const leave = useNavigate();
  const choose = (call: string) => void navigate({ search: (last) => ({ ...last, call }), state: { fromTree: true } });
  const close = () =>
    void navigate({ search: (last) => ({ ...last, left: undefined, right: undefined, compare: undefined }) });
  const link = () => linkTo(selected);
  const failed = firstFailed(calls);
  const longest = slowest(calls);
  const [asking, setAsking] = useState(false);
  const ways = useComparisons(trace, session, () => setAsking(true));
  usePageCommands([
    {
      id: 'back',
      label: 'Back to session',
      run: () => void leave({ to: '/sessions/$sessionId', params: { sessionId } }),
    },
    ...(!comparing && failed !== undefined
      ? [{ id: 'select-failed', label: 'Select the first failed call', keywords: ['error'], run: () => choose(failed) }]
      : []),
    ...(!comparing && longest !== undefined
      ? [{ id: 'select-slowest', label: 'Select the slowest call', keywords: ['longest'], run: () => choose(longest) }]
      : []),
    ...(!comparing && calls.size > 0
      ? [{ id: 'fold', label: folded ? 'Expand all' : 'Collapse all', run: () => onFold(!folded) }]
      : []),
    ...ways.map(({ id, label, run }) => ({ id, label: `Compare: ${label}`, keywords: ['difference'], run })),
    ...(comparing ? [{ id: 'close-comparison', label: 'Close comparison', run: close }] : []),
    { id: 'copy-link', label: 'Copy link to this trace', run: () => void navigator.clipboard.writeText(link()) },
    {
      id: 'export',
      label: 'Export all data (JSON)',
      keywords: ['download'],
      run: () => globalThis.location.assign(exportAddress(sessionId, 'json')),
    },
  ]);
  return (
    <>
      {!comparing && calls.size > 0 && (
        <Button size="sm" variant="ghost" onClick={() => onFold(!folded)}>
          {folded ? <ChevronsUpDown aria-hidden /> : <ChevronsDownUp aria-hidden />}
          {folded ? 'Expand all' : 'Collapse all'}
        </Button>
      )}
      <Menu>
        <MenuTrigger asChild>
          <Button size="sm" data-testid="compare">
            <Columns2 aria-hidden /> Compare
          </Button>
        </MenuTrigger>
        <MenuContent>
          {ways.map(({ id, label, run }) => (
            <MenuItem key={id} onSelect={run} className="pointer-coarse:min-h-11" data-testid={id}>
              {label}
            </MenuItem>
          ))}
        </MenuContent>
      </Menu>
      {asking && (
        <CompareDialog
          sessionId={sessionId}
          session={session}
          onClose={() => setAsking(false)}
          onChoose={(compare) => {
            setAsking(false);
            void navigate({ search: (last) => ({ ...last, compare }) });
          }}
        />
      )}
      {comparing && (
        <Button size="sm" onClick={close}>
          <X aria-hidden /> Close comparison
        </Button>
      )}
      <Button asChild size="sm">
        <a href={exportAddress(sessionId, 'json')} download>
          <Download aria-hidden /> Export
        </a>
      </Button>
      <CopyButton showLabel label="Copy link" text={link} />
    </>
  );
}

/** Returns the address of the current view, including the selected call even if the address does not name it. */
function linkTo(call: string | undefined): string {
  const address = new URL(globalThis.location.href);
  if (call !== undefined) address.searchParams.set('call', call);
  return address.href;
}

interface Way {
  id: string;
  label: string;
  run: () => void;
}

/** The menu lists only the latest re-runs; the dialog of its last entry lists all. */
const mostReruns = 5;

/** Returns what this trace can be compared with. */
function useComparisons(trace: Trace, session: SessionDetail | undefined, ask: () => void): Way[] {
  const navigate = route.useNavigate();
  const compare = (id: string) => void navigate({ search: (last) => ({ ...last, compare: id }) });
  const ways: Way[] = [];
  const original = session?.rerun_of;
  if (original) ways.push({ id: 'compare-original', label: 'With the original session', run: () => compare(original) });
  for (const rerun of session?.reruns.slice(-mostReruns).toReversed() ?? []) {
    ways.push({ id: `compare-rerun-${rerun}`, label: `With re-run ${shortId(rerun)}`, run: () => compare(rerun) });
  }
  const pair = comparable(trace)[0]?.executions;
  if (pair) {
    ways.push({
      id: 'compare-agents',
      label: 'Two agents of a stage',
      run: () =>
        void navigate({
          search: (last) => ({
            ...last,
            compare: undefined,
            left: pair[0]?.execution_id,
            right: pair[1]?.execution_id,
          }),
        }),
    });
  }
  ways.push({ id: 'compare-session', label: 'With another session…', run: ask });
  return ways;
}
