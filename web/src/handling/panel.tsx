/** The handling of a session on its page: what people did, and the actions. */
import { useQuery } from '@tanstack/react-query';
import { Check, CircleCheck, Ellipsis, Eye, RotateCcw, Tags, UserRound, UserRoundPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { isMe } from '@/api/person';
import * as queries from '@/api/queries';
import type { Handling, HandlingRequest, Me, SessionDetail } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useScope } from '@/app/scope';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { useMedia } from '@/ui/media';
import { Menu, MenuContent, MenuItem, MenuTrigger } from '@/ui/overlay';
import { Ago } from '@/ui/time';
import { useHandle, useHandling } from './change';
import { AssignDialog, ResolveDialog, TagsDialog } from './dialogs';
import { HandlingBadge, Tag } from './marks';
import { doneBy, me } from './words';

type Asked = 'resolve' | 'assign' | 'tags' | 'nothing';

interface Action {
  id: string;
  label: string;
  /** The label in the palette, which does not show the session. */
  command: string;
  icon: ReactNode;
  run: () => void;
}

export function HandlingPanel({ session }: { session: Pick<SessionDetail, 'id' | 'handling'> }) {
  const handling = useHandling(session);
  const handle = useHandle(session.id);
  const may = useScope('write');
  const narrow = useMedia('(max-width: 47.99rem)');
  const [asked, setAsked] = useState<Asked>('nothing');
  const ask = (what: Asked) => {
    handle.reset();
    setAsked(what);
  };
  const change = (request: HandlingRequest) => handle.mutate(request, { onSuccess: () => setAsked('nothing') });
  const who = useQuery(queries.me()).data;
  const actions = may ? actionsOf(handling, who, handle.isPending, change, ask) : [];
  usePageCommands(
    actions.map(({ id, command, icon, run }) => ({
      id: `handling ${id}`,
      label: command,
      keywords: ['handling'],
      icon,
      run,
    })),
  );
  const open = (what: Asked) => ({
    open: asked === what,
    onOpenChange: (shown: boolean) => ask(shown ? what : 'nothing'),
    busy: handle.isPending,
    error: handle.error,
    change,
  });
  return (
    <section
      aria-label="Handling"
      className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-ink-soft"
      data-testid="handling-panel"
    >
      <Facts handling={handling} />
      {actions.length > 0 && (
        <span className="ml-auto flex flex-wrap gap-1">
          {narrow ? <NarrowActions actions={actions} /> : <WideActions actions={actions} busy={handle.isPending} />}
        </span>
      )}
      {asked === 'nothing' && handle.error && (
        <ProblemPanel className="w-full p-3" error={handle.error} retry={() => handle.reset()} />
      )}
      <ResolveDialog {...open('resolve')} />
      <AssignDialog {...open('assign')} assignee={handling.assignee} />
      <TagsDialog {...open('tags')} tags={handling.tags} />
    </section>
  );
}

function actionsOf(
  handling: Handling,
  who: Me | undefined,
  busy: boolean,
  change: (request: HandlingRequest) => void,
  ask: (what: Asked) => void,
): Action[] {
  const once = (request: HandlingRequest) => () => {
    if (!busy) change(request);
  };
  const actions: (Action | false)[] = [
    // First in the row: the other buttons keep their places at its end when this one appears, so a second click cannot
    // hit the wrong one.
    handling.state !== 'open' && {
      id: 'reopen',
      label: 'Reopen',
      command: 'Reopen this session',
      icon: <RotateCcw aria-hidden />,
      run: once({ state: 'open' }),
    },
    handling.state === 'open' && {
      id: 'acknowledge',
      label: 'Acknowledge',
      command: 'Acknowledge this session',
      icon: <Eye aria-hidden />,
      run: once({ state: 'acknowledged' }),
    },
    handling.state !== 'resolved' && {
      id: 'resolve',
      label: 'Resolve',
      command: 'Resolve this session',
      icon: <CircleCheck aria-hidden />,
      run: () => ask('resolve'),
    },
    !isMe(who, handling.assignee, handling.assignee_id) && {
      id: 'take',
      label: 'Assign to me',
      command: 'Assign this session to me',
      icon: <UserRoundPlus aria-hidden />,
      run: once({ assignee: me }),
    },
    {
      id: 'assign',
      label: 'Assign',
      command: 'Assign this session…',
      icon: <UserRound aria-hidden />,
      run: () => ask('assign'),
    },
    {
      id: 'tags',
      label: 'Tags',
      command: 'Edit the tags of this session',
      icon: <Tags aria-hidden />,
      run: () => ask('tags'),
    },
  ];
  return actions.filter((action) => action !== false);
}

/** What people did; visible without the write scope. */
function Facts({ handling }: { handling: Handling }) {
  const done = doneBy(handling);
  return (
    <>
      <span className="flex min-w-0 flex-wrap items-center gap-x-1.5" data-testid="handling-state">
        <HandlingBadge state={handling.state} />
        {done && (
          <span className="min-w-0 [overflow-wrap:anywhere]">
            by {done.by} <Ago at={done.at} />
          </span>
        )}
      </span>
      {handling.assignee !== '' && (
        <span className="min-w-0 [overflow-wrap:anywhere]" data-testid="handling-assignee">
          <span className="text-ink-faint">Assigned to </span>
          <span className="text-ink">{handling.assignee}</span>
        </span>
      )}
      {handling.tags.length > 0 && (
        <ul className="flex min-w-0 flex-wrap items-center gap-1" aria-label="Tags">
          {handling.tags.map((tag) => (
            <li key={tag} className="flex max-w-full">
              <Tag tag={tag} />
            </li>
          ))}
        </ul>
      )}
      {handling.resolution !== '' && (
        <p
          className="flex w-full min-w-0 gap-1.5 text-ink [overflow-wrap:anywhere]"
          title={handling.resolution}
          data-testid="handling-resolution"
        >
          <Check className="mt-0.5 size-4 shrink-0 text-good" aria-hidden />
          <span className="line-clamp-2 max-w-[100ch] whitespace-pre-line">
            <span className="sr-only">Resolution: </span>
            {handling.resolution}
          </span>
        </p>
      )}
    </>
  );
}

function WideActions({ actions, busy }: { actions: readonly Action[]; busy: boolean }) {
  return actions.map(({ id, label, icon, run }) => (
    <Button
      key={id}
      size="sm"
      disabled={busy}
      // The second click of a double click may hit a different button.
      onClick={(event) => event.detail < 2 && run()}
      data-palette="none"
      data-testid={`handling-${id}`}
    >
      {icon} {label}
    </Button>
  ));
}

/** On a phone the buttons would fill a third of the screen. */
function NarrowActions({ actions }: { actions: readonly Action[] }) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button size="sm" data-palette="none" data-testid="handling-menu">
          <Ellipsis aria-hidden /> Handle
        </Button>
      </MenuTrigger>
      <MenuContent>
        {actions.map(({ id, label, icon, run }) => (
          <MenuItem key={id} className="min-h-11" onSelect={run} data-testid={`handling-${id}`}>
            {icon} {label}
          </MenuItem>
        ))}
      </MenuContent>
    </Menu>
  );
}
