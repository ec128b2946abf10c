/** Actions on a session: cancel, re-run, export and others. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import {
  Ban,
  BellOff,
  ChevronUp,
  Columns2,
  Download,
  Ellipsis,
  FileJson,
  FileText,
  ListTree,
  PencilLine,
  RotateCcw,
} from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { matchersOf } from '@/alert/matchers';
import { SilenceDialog } from '@/alert/silence-dialog';
import { api, body } from '@/api/client';
import { type ExportFormat, exportAddress } from '@/api/export';
import * as queries from '@/api/queries';
import { isOver } from '@/api/status';
import type { SessionDetail } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useScope } from '@/app/scope';
import { shortId } from '@/text/format';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Confirm } from '@/ui/confirm';
import { CopyButton } from '@/ui/copy';
import { useMedia } from '@/ui/media';
import { Menu, MenuContent, MenuItem, MenuTrigger } from '@/ui/overlay';
import { KeepButton } from './keep';
import { type Permit, permitToCancel, permitToRerun } from './permit';
import { RerunDialog } from './rerun';
import { ShareButton } from './share';

const exports: readonly { format: ExportFormat; label: string; icon: ReactNode }[] = [
  { format: 'markdown', label: 'Report (Markdown)', icon: <FileText aria-hidden /> },
  { format: 'json', label: 'All data (JSON)', icon: <FileJson aria-hidden /> },
];

/** Cancels the session or, if it is over, the answer being written. */
export function useCancel(id: string) {
  return useMutation({
    mutationFn: () => body(api.POST('/api/v1/sessions/{id}/cancel', { params: { path: { id } } })),
  });
}

/** Shared by the whole page, so that the header and the chat show the same state. */
export type Cancel = ReturnType<typeof useCancel>;

export function SessionActions({
  session,
  answering,
  cancel,
}: {
  session: SessionDetail;
  answering: boolean;
  cancel: Cancel;
}) {
  const { id, status } = session;
  const scopes = useQuery(queries.me()).data?.scopes;
  const navigate = useNavigate();
  const narrow = useMedia('(max-width: 47.99rem)');
  const [more, setMore] = useState(false);
  const moreId = useId();
  const [asking, setAsking] = useState<'cancel' | 'rerun' | 'nothing'>('nothing');
  const { reset } = cancel;
  // A change of the status or the answer completes the cancellation. The event may arrive before the response, whose
  // callbacks the reset drops, so the dialog is closed here too.
  useEffect(() => {
    if (status === 'in_progress' || answering) return;
    reset();
    setAsking((asking) => (asking === 'cancel' ? 'nothing' : asking));
  }, [status, answering, reset]);

  const cancelPermit = permitToCancel({ status, answering, cancelAsked: cancel.isSuccess, scopes });
  const rerunPermit = permitToRerun({ scopes });
  const ask = (what: 'cancel' | 'rerun') => {
    if (!cancel.isSuccess) cancel.reset();
    setAsking(what);
  };
  const open = (what: typeof asking) => (shown: boolean) => setAsking(shown ? what : 'nothing');
  usePageCommands([
    ...(cancelPermit.state === 'allowed'
      ? [
          {
            id: 'cancel',
            label: isOver(status) ? 'Stop this answer' : 'Cancel this session',
            icon: <Ban aria-hidden />,
            run: () => ask('cancel'),
          },
        ]
      : []),
    ...(rerunPermit.state === 'allowed'
      ? [
          {
            id: 'rerun',
            label: 'Re-run this session',
            keywords: ['again'],
            icon: <RotateCcw aria-hidden />,
            run: () => ask('rerun'),
          },
        ]
      : []),
    ...(session.rerun_of
      ? [
          {
            id: 'compare',
            label: 'Compare with original',
            keywords: ['re-run', 'difference'],
            icon: <Columns2 aria-hidden />,
            run: () =>
              void navigate({
                to: '/sessions/$sessionId/trace',
                params: { sessionId: id },
                search: { compare: session.rerun_of ?? undefined },
              }),
          },
        ]
      : []),
    ...session.reruns.map((rerun) => ({
      id: `compare ${rerun}`,
      label: `Compare with re-run ${shortId(rerun)}`,
      icon: <Columns2 aria-hidden />,
      run: () =>
        void navigate({ to: '/sessions/$sessionId/trace', params: { sessionId: rerun }, search: { compare: id } }),
    })),
    ...exports.map(({ format, label, icon }) => ({
      id: `export ${format}`,
      label: `Export: ${label}`,
      keywords: ['download'],
      icon,
      run: () => globalThis.location.assign(exportAddress(id, format)),
    })),
    {
      id: 'trace',
      label: 'Open trace',
      icon: <ListTree aria-hidden />,
      run: () => void navigate({ to: '/sessions/$sessionId/trace', params: { sessionId: id } }),
    },
  ]);

  const rerunButton = (
    <PermitButton
      permit={rerunPermit}
      label="Re-run"
      icon={<RotateCcw aria-hidden />}
      onClick={() => ask('rerun')}
      data-testid="rerun"
    />
  );
  const cancellable = cancelPermit.state !== 'absent';
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-1 max-md:flex-1">
      {cancellable && (
        <PermitButton
          permit={cancelPermit}
          label={status === 'cancelling' || cancel.isSuccess ? 'Cancelling…' : 'Cancel'}
          icon={<Ban aria-hidden />}
          variant="danger"
          onClick={() => ask('cancel')}
          data-testid="cancel"
        />
      )}
      {!(narrow && cancellable) && rerunButton}
      {narrow && (
        <Button
          size="sm"
          className={narrowAction}
          aria-expanded={more}
          aria-controls={moreId}
          onClick={() => setMore(!more)}
          data-testid="more-actions"
        >
          {more ? <ChevronUp aria-hidden /> : <Ellipsis aria-hidden />} {more ? 'Less' : 'More'}
        </Button>
      )}
      {/* Hidden rather than removed: the palette reads its actions from here. */}
      <div
        id={moreId}
        className={cn(narrow ? (more ? 'grid w-full grid-cols-2 gap-1' : 'hidden') : 'contents')}
        data-palette="folded"
        data-testid="session-actions"
      >
        {narrow && cancellable && rerunButton}
        <Button asChild size="sm" className={narrowAction}>
          <Link to="/submit" search={{ from: id }} title="Edit and resubmit">
            <PencilLine aria-hidden />
            <span className={wideLabel}>Edit and resubmit</span>
          </Link>
        </Button>
        {isOver(status) && session.final_analysis !== '' && <KeepButton sessionId={id} className={narrowAction} />}
        {session.alert && <SilenceButton session={session} />}
        <ShareButton sessionId={id} className={narrowAction} label={wideLabel} />
        <Menu>
          <MenuTrigger asChild>
            <Button size="sm" className={narrowAction} data-palette="none" data-testid="export">
              <Download aria-hidden /> Export
            </Button>
          </MenuTrigger>
          <MenuContent>
            {exports.map(({ format, label, icon }) => (
              <MenuItem key={format} asChild className="max-md:min-h-11">
                <a href={exportAddress(id, format)} download>
                  {icon} {label}
                </a>
              </MenuItem>
            ))}
          </MenuContent>
        </Menu>
        <Button asChild size="sm" className={narrowAction} data-palette="none">
          <Link to="/sessions/$sessionId/trace" params={{ sessionId: id }} title="Trace">
            <ListTree aria-hidden /> Trace
          </Link>
        </Button>
        <CopyButton text={() => `${globalThis.location.origin}/sessions/${id}`} label="Copy link" showLabel={narrow} />
      </div>

      <Confirm
        open={asking === 'cancel' && !cancel.isSuccess}
        onOpenChange={open('cancel')}
        title={isOver(status) ? 'Stop this answer?' : 'Cancel this session?'}
        action={isOver(status) ? 'Stop answer' : 'Cancel session'}
        danger
        busy={cancel.isPending}
        error={cancel.error}
        onConfirm={() => cancel.mutate(undefined, { onSuccess: () => setAsking('nothing') })}
      >
        {isOver(status)
          ? 'The answer stops here. The investigation is not affected.'
          : 'The agents stop. Their findings so far are kept, but the session cannot be resumed.'}
      </Confirm>
      {asking === 'rerun' && <RerunDialog session={session} onClose={() => setAsking('nothing')} />}
    </div>
  );
}

/** Silences alerts like this one. */
function SilenceButton({ session }: { session: SessionDetail }) {
  const [open, setOpen] = useState(false);
  const navigate = useNavigate();
  const may = useScope('write');
  const show = () => setOpen(true);
  usePageCommands(may ? [{ id: 'silence', label: 'Silence this alert', keywords: ['mute'], run: show }] : []);
  return (
    <>
      <Button
        size="sm"
        className={narrowAction}
        disabled={!may}
        title={may ? 'Silence alerts like this one' : 'Your API key is read-only.'}
        onClick={show}
        data-palette="none"
        data-testid="silence-session"
      >
        <BellOff aria-hidden />
        <span className={wideLabel}>Silence…</span>
      </Button>
      {open && (
        <SilenceDialog
          matchers={matchersOf(session)}
          onClose={() => setOpen(false)}
          onAdded={() => void navigate({ to: '/alerts', search: { tab: 'silences' } })}
        />
      )}
    </>
  );
}

/** On a phone, actions have labels and are as tall as a finger needs. */
const narrowAction = 'max-md:h-11 max-md:px-3';
const wideLabel = 'md:max-xl:sr-only';

/** A button that shows the reason when it is disabled. It stays focusable, so that everyone can read the reason. */
function PermitButton({
  permit,
  label,
  icon,
  onClick,
  variant,
  ...rest
}: {
  permit: Permit;
  label: string;
  icon: ReactNode;
  onClick: () => void;
  variant?: 'danger';
  'data-testid': string;
}) {
  const reason = permit.state === 'refused' ? permit.reason : undefined;
  return (
    <Button
      size="sm"
      variant={variant}
      className={cn(narrowAction, reason && 'cursor-not-allowed opacity-60')}
      aria-disabled={reason !== undefined || undefined}
      data-palette="none"
      title={reason ?? label}
      onClick={reason === undefined ? onClick : undefined}
      {...rest}
    >
      {icon}
      <span>{label}</span>
      {reason && <span className="sr-only">: {reason}</span>}
    </Button>
  );
}
