/** A notice that tool calls wait for an approval, with a button to the next one. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowDown, Hourglass } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { usePageCommands } from '@/app/commands';
import { approvalWord } from '@/approval/words';
import type { EventView, SessionStore, SessionView } from '@/live/view';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { nextWaiting } from './present';
import { toolCallFacts } from './timeline/preview';

const route = getRouteApi('/shell/sessions/$sessionId');

export function callName(event: EventView | undefined): string {
  if (event === undefined) return 'a tool call';
  const { server, tool } = toolCallFacts(event);
  return server ? `${server}.${tool}` : tool;
}

export function WaitingApprovals({ store, view }: { store: SessionStore; view: SessionView }) {
  const { waiting } = view;
  const { event: at } = route.useSearch();
  const navigate = route.useNavigate();
  const next = nextWaiting(waiting, at);
  const announced = useAnnouncement(store, waiting);
  usePageCommands(
    next === undefined
      ? []
      : [
          {
            id: 'approval',
            label: 'Go to the call waiting for approval',
            keywords: ['approve', 'reject', 'waiting'],
            icon: <Hourglass aria-hidden />,
            run: () => void navigate({ search: (before) => ({ ...before, event: next }) }),
          },
        ],
  );
  return (
    <>
      <p role="status" className="sr-only" data-testid="approval-announcement">
        {announced}
      </p>
      {next !== undefined && (
        <div
          className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md bg-warn-soft px-3 py-1.5 text-[13px] text-warn"
          data-testid="waiting-approval"
        >
          <Hourglass className="size-4 shrink-0" aria-hidden />
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            <span className="font-semibold">{approvalWord('waiting')}</span>
            {waiting.length === 1 ? `: ${callName(store.event(next))}` : `: ${counted(waiting.length, 'call')}`}
          </span>
          <Button asChild size="sm">
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: view.session.id }}
              search={(before) => ({ ...before, event: next })}
              data-palette="none"
              data-testid="show-waiting"
            >
              <ArrowDown aria-hidden />{' '}
              {waiting.length > 1 && waiting.includes(at ?? '') ? 'Show next call' : 'Show call'}
            </Link>
          </Button>
        </div>
      )}
    </>
  );
}

/** Announces to screen readers when a call starts to wait; not for calls that waited when the page was opened. */
function useAnnouncement(store: SessionStore, waiting: readonly string[]): string {
  const known = useRef(new Set(waiting));
  const [text, setText] = useState('');
  useEffect(() => {
    const fresh = waiting.find((id) => !known.current.has(id));
    for (const id of waiting) known.current.add(id);
    if (fresh !== undefined) setText(`${approvalWord('waiting')}: ${callName(store.event(fresh))}`);
    else if (waiting.length === 0) setText('');
  }, [store, waiting]);
  return text;
}
