/** The actions on several sessions. The bar lies over the page, so that selecting a row moves none. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, CircleCheck, Eye, Tag, UserRoundPlus, X } from 'lucide-react';
import { useState } from 'react';
import { api, body } from '@/api/client';
import * as queries from '@/api/queries';
import { isOver } from '@/api/status';
import type { HandlingRequest, SessionItem } from '@/api/types';
import { AssignDialog, ResolveDialog, TagsDialog } from '@/handling/dialogs';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { ProblemPanel } from '@/ui/feedback';

type Action = 'resolve' | 'assign' | 'tag' | 'cancel';

/** The sessions of a request that could not be changed, with the first reason. */
interface Result {
  failed: number;
  message: string;
}

async function handle(ids: string[], request: HandlingRequest): Promise<Result> {
  const { results } = await body(api.POST('/api/v1/sessions/handling', { body: { ids, ...request } }));
  const failed = results.filter((result) => result.code);
  return { failed: failed.length, message: failed[0]?.message ?? '' };
}

async function cancel(ids: string[]): Promise<Result> {
  await body(api.POST('/api/v1/sessions/cancel', { body: { ids } }));
  return { failed: 0, message: '' };
}

export function BulkBar({ rows, clear }: { rows: readonly SessionItem[]; clear: () => void }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<Action>();
  const ids = rows.map(({ id }) => id);
  const active = rows.filter(({ status }) => !isOver(status)).map(({ id }) => id);
  const doing = useMutation({
    mutationFn: (run: () => Promise<Result>) => run(),
    onSuccess: ({ failed }) => {
      setAsked(undefined);
      void client.invalidateQueries({ queryKey: queries.keys.sessions });
      if (failed === 0) clear();
    },
  });
  const change = (request: HandlingRequest) => doing.mutate(() => handle(ids, request));
  const dialog = (action: Action) => ({
    open: asked === action,
    onOpenChange: (open: boolean) => setAsked(open ? action : undefined),
    busy: doing.isPending,
    error: asked === undefined ? null : doing.error,
  });
  const ask = (action: Action) => () => {
    doing.reset();
    setAsked(action);
  };
  const number = counted(rows.length, 'session');
  return (
    <section
      aria-label="Selected sessions"
      className="fixed inset-x-2 bottom-4 z-20 mx-auto w-fit max-w-full rounded-lg border border-line-strong bg-raised p-2 shadow-xl max-md:bottom-16"
      data-testid="bulk-bar"
    >
      <div className="flex flex-wrap items-center gap-2 max-md:[&_button]:h-11">
        <p role="status" className="px-1 font-medium tabular-nums" data-testid="bulk-count">
          {number} selected
        </p>
        <Button
          size="sm"
          disabled={doing.isPending}
          onClick={() => change({ state: 'acknowledged' })}
          data-testid="bulk-acknowledge"
        >
          <Eye aria-hidden /> Acknowledge
        </Button>
        <Button size="sm" onClick={ask('resolve')} data-testid="bulk-resolve">
          <CircleCheck aria-hidden /> Resolve…
        </Button>
        <Button size="sm" onClick={ask('assign')} data-testid="bulk-assign">
          <UserRoundPlus aria-hidden /> Assign…
        </Button>
        <Button size="sm" onClick={ask('tag')} data-testid="bulk-tag">
          <Tag aria-hidden /> Tag…
        </Button>
        <Button size="sm" disabled={active.length === 0} onClick={ask('cancel')} data-testid="bulk-cancel">
          <Ban aria-hidden /> Cancel…
        </Button>
        <Button size="sm" variant="ghost" onClick={clear} data-testid="bulk-clear">
          <X aria-hidden /> Clear selection
        </Button>
      </div>
      {asked === undefined && doing.error && <ProblemPanel className="mt-2" error={doing.error} />}
      {doing.data && doing.data.failed > 0 && (
        <p role="alert" className="mt-2 px-1 break-words text-bad">
          {counted(doing.data.failed, 'session')} could not be changed. {doing.data.message}
        </p>
      )}
      <ResolveDialog {...dialog('resolve')} change={change} />
      <AssignDialog {...dialog('assign')} assignee="" change={change} />
      <TagsDialog {...dialog('tag')} tags={[]} change={change} />
      <Confirm
        {...dialog('cancel')}
        title={`Cancel ${counted(active.length, 'session')}?`}
        action={`Cancel ${counted(active.length, 'session')}`}
        danger
        onConfirm={() => doing.mutate(() => cancel(active))}
      >
        <p>
          Queued and running sessions of the selection will be cancelled. Findings so far are kept, but the sessions
          cannot be resumed.
        </p>
      </Confirm>
    </section>
  );
}
