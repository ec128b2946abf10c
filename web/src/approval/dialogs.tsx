/** The dialogs before a decision: the reason for a rejection, or edited arguments. */
import { type FormEvent, useRef, useState } from 'react';
import { type ApprovalCall, type Decision, longestReason } from '@/api/approvals';
import { Button } from '@/ui/button';
import { Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';
import { readEdited, shownArguments } from './arguments';
import { ArgumentsDiff } from './arguments-diff';

interface Props {
  open: boolean;
  call: ApprovalCall;
  /** What was decided before, and undone or refused. */
  draft: Decision | undefined;
  close: () => void;
  decide: (id: string, decision: Decision) => void;
}

const nameOf = (call: ApprovalCall) => `${call.server}.${call.tool}`;

export function RejectDialog({ open, call, draft, close, decide }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [reason, setReason] = useState(draft?.reason ?? '');
  const [missing, setMissing] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = reason.trim();
    setMissing(given === '');
    if (given !== '') decide(call.id, { status: 'rejected', reason: given });
  };
  return (
    <Dialog open={open} onOpenChange={(shown) => !shown && close()}>
      <DialogContent title="Reject this call?" description={nameOf(call)} first={field}>
        <form className="space-y-4" onSubmit={submit} noValidate data-testid="reject-form">
          <Labelled
            label="Reason"
            hint="Required. The agent is given this reason and continues without the call."
            error={missing ? 'Enter a reason.' : undefined}
          >
            {(props) => (
              <Textarea
                {...props}
                required
                ref={field}
                rows={3}
                maxLength={longestReason}
                value={reason}
                onChange={(event) => {
                  setReason(event.target.value);
                  setMissing(false);
                }}
              />
            )}
          </Labelled>
          <Buttons action="Reject" danger testId="reject-confirm" />
        </form>
      </DialogContent>
    </Dialog>
  );
}

export function EditDialog({ open, call, draft, close, decide }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const edits = draft?.status === 'approved' ? draft.argumentsText : undefined;
  const [typed, setTyped] = useState(() => edits ?? shownArguments(call.argumentsText));
  const [reason, setReason] = useState(draft?.reason ?? '');
  const edited = readEdited(call.argumentsText, typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (edited.state !== 'changed') return;
    decide(call.id, { status: 'approved', argumentsText: typed, reason: reason.trim() });
  };
  return (
    <Dialog open={open} onOpenChange={(shown) => !shown && close()}>
      <DialogContent title="Edit arguments" description={nameOf(call)} className="max-w-3xl" first={field}>
        <form className="space-y-4" onSubmit={submit} noValidate data-testid="edit-form">
          <Labelled
            label="Arguments"
            hint="A JSON object. The call is made with exactly these arguments."
            error={edited.state === 'wrong' ? edited.message : undefined}
          >
            {(props) => (
              <Textarea
                {...props}
                ref={field}
                spellCheck={false}
                autoCapitalize="off"
                autoComplete="off"
                rows={Math.min(16, Math.max(5, typed.split('\n').length + 1))}
                className="font-mono text-xs"
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Labelled>
          <Labelled label="Reason" hint="Optional.">
            {(props) => (
              <Textarea
                {...props}
                rows={2}
                maxLength={longestReason}
                className="min-h-14"
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Labelled>
          {edited.state === 'changed' && <ArgumentsDiff before={edited.before} after={edited.after} />}
          {edited.state === 'unchanged' && <p className="text-ink-soft">No changes yet.</p>}
          <Buttons action="Approve edited call" disabled={edited.state !== 'changed'} testId="edit-confirm" />
        </form>
      </DialogContent>
    </Dialog>
  );
}

function Buttons(props: { action: string; disabled?: boolean; danger?: boolean; testId: string }) {
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <DialogClose asChild>
        <Button>Back</Button>
      </DialogClose>
      <Button
        type="submit"
        variant={props.danger ? 'danger' : 'primary'}
        disabled={props.disabled}
        data-testid={props.testId}
      >
        {props.action}
      </Button>
    </div>
  );
}
