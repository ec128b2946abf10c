/** The dialogs for resolving, assigning and tagging sessions. */
import { useQuery } from '@tanstack/react-query';
import { Plus, UserRoundPlus, UserRoundX, X } from 'lucide-react';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import * as queries from '@/api/queries';
import type { HandlingRequest } from '@/api/types';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { Input, Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';
import { longestAssignee, longestResolution, longestTag, me, mostTags, tagChange, withTag } from './words';

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  busy: boolean;
  error: Error | null;
  change: (request: HandlingRequest) => void;
}

export function ResolveDialog({ open, onOpenChange, ...props }: Props) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange}>
      <DialogContent title="Resolve session" description="An investigation that still runs is not stopped.">
        <ResolveForm {...props} />
      </DialogContent>
    </Dialog>
  );
}

function ResolveForm({ busy, error, change }: Omit<Props, 'open' | 'onOpenChange'>) {
  const [note, setNote] = useState('');
  return (
    <Form
      submit={() => change({ state: 'resolved', resolution: note.trim() })}
      action="Resolve"
      busy={busy}
      error={error}
      testId="resolve-submit"
    >
      <Labelled label="What resolved it" hint="Optional. Everybody who can read the session sees it.">
        {(props) => (
          <Textarea
            {...props}
            autoFocus
            rows={4}
            maxLength={longestResolution}
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
        )}
      </Labelled>
    </Form>
  );
}

export function AssignDialog({ open, onOpenChange, ...props }: Props & { assignee: string }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange}>
      <DialogContent title="Assign session">
        <AssignForm {...props} close={() => onOpenChange(false)} />
      </DialogContent>
    </Dialog>
  );
}

function AssignForm(props: Omit<Props, 'open' | 'onOpenChange'> & { assignee: string; close: () => void }) {
  const { busy, error, change, assignee, close } = props;
  const [name, setName] = useState(assignee);
  const known = useQuery(queries.filterOptions()).data?.assignees ?? [];
  const listId = useId();
  return (
    <Form
      // Submitting the unchanged name would replace the assignee with anyone of that name.
      submit={() => (name.trim() === assignee ? close() : change({ assignee: name.trim() }))}
      action="Assign"
      busy={busy}
      error={error}
      testId="assign-submit"
    >
      <Labelled label="Assignee" hint="Any name. People who have sessions already are suggested.">
        {(props) => (
          <Input
            {...props}
            autoFocus
            list={listId}
            maxLength={longestAssignee}
            value={name}
            onChange={(event) => setName(event.target.value)}
            data-testid="assign-name"
          />
        )}
      </Labelled>
      <datalist id={listId}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button size="sm" disabled={busy} onClick={() => change({ assignee: me })} data-testid="assign-me">
          <UserRoundPlus aria-hidden /> Me
        </Button>
        <Button
          size="sm"
          disabled={busy || assignee === ''}
          onClick={() => change({ assignee: '' })}
          data-testid="assign-nobody"
        >
          <UserRoundX aria-hidden /> Nobody
        </Button>
      </div>
    </Form>
  );
}

export function TagsDialog({ open, onOpenChange, ...props }: Props & { tags: readonly string[] }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange}>
      <DialogContent title="Tags of the session">
        <TagsForm {...props} />
      </DialogContent>
    </Dialog>
  );
}

/**
 * Edits are local until saved. Saving sends only the difference, so tags that others changed in the meantime are kept.
 */
function TagsForm({ busy, error, change, tags }: Omit<Props, 'open' | 'onOpenChange'> & { tags: readonly string[] }) {
  const [before] = useState(tags);
  const [chosen, setChosen] = useState<readonly string[]>(tags);
  const [typed, setTyped] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const known = useQuery(queries.filterOptions()).data?.tags ?? [];
  const listId = useId();
  const full = chosen.length >= mostTags;
  const add = () => {
    setChosen(withTag(chosen, typed));
    setTyped('');
    field.current?.focus();
  };
  const save = () => change({ tags: tagChange(before, withTag(chosen, typed)) });
  return (
    <Form
      submit={typed.trim() === '' ? save : add}
      action="Save tags"
      busy={busy}
      error={error}
      testId="tags-submit"
      save={save}
    >
      {chosen.length === 0 ? (
        <p className="mb-3 text-ink-soft">No tags yet.</p>
      ) : (
        <ul className="mb-3 flex flex-wrap gap-1.5" aria-label="Chosen tags">
          {chosen.map((tag) => (
            <li key={tag} className="max-w-full">
              <Button
                size="sm"
                className="max-w-full min-w-0 shrink"
                aria-label={`Remove tag ${tag}`}
                onClick={() => {
                  setChosen(chosen.filter((other) => other !== tag));
                  field.current?.focus();
                }}
                data-testid="tag-chosen"
              >
                <span className="truncate">{tag}</span> <X aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Labelled label="Add a tag" hint={full ? `A session has at most ${mostTags} tags.` : 'Press Enter to add it.'}>
        {(props) => (
          <div className="flex gap-2">
            <Input
              {...props}
              ref={field}
              autoFocus
              list={listId}
              maxLength={longestTag}
              disabled={full}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              data-testid="tag-name"
            />
            <Button aria-label="Add tag" disabled={full || typed.trim() === ''} onClick={add} data-testid="tag-add">
              <Plus aria-hidden />
            </Button>
          </div>
        )}
      </Labelled>
      <datalist id={listId}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </Form>
  );
}

/** A form with its buttons. With `save`, Enter calls `submit` and the button calls `save`. */
function Form(props: {
  submit: () => void;
  save?: () => void;
  action: string;
  busy: boolean;
  error: Error | null;
  testId: string;
  children: ReactNode;
}) {
  const { submit, save, action, busy, error, testId, children } = props;
  const run = (event: FormEvent) => {
    event.preventDefault();
    if (!busy) submit();
  };
  return (
    <form onSubmit={run}>
      {children}
      {error && <ProblemPanel className="mt-4" error={error} />}
      <div className="mt-4 flex justify-end gap-2">
        <DialogClose asChild>
          <Button>Back</Button>
        </DialogClose>
        <Button type={save ? 'button' : 'submit'} variant="primary" disabled={busy} onClick={save} data-testid={testId}>
          {busy ? 'Saving…' : action}
        </Button>
      </div>
    </form>
  );
}
