/** Edits a proposal before accepting it. */
import { useState } from 'react';
import type { ReviewItem } from '@/api/types';
import { changesOf, draftOf, emptyDraft } from '@/pages/board/draft';
import { EntityFields, isShownAtField } from '@/pages/board/entity-fields';
import { Button } from '@/ui/button';
import { ChangeProblem } from '@/ui/conflict';
import { Input, Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { DialogClose, DialogContent } from '@/ui/overlay';
import type { Resolution } from './decide';

type Edit = Omit<Resolution, 'item' | 'decision'>;

export function EditDialog({
  item,
  pending,
  error,
  onSubmit,
  reload,
}: {
  item: ReviewItem;
  pending: boolean;
  error: Error | null;
  onSubmit: (edit: Edit) => void;
  reload: () => void;
}) {
  const isEpic = item.kind === 'epic';
  // The form starts with the entity as it would be after accepting the proposal.
  const [before] = useState(() => (item.entity ? draftOf(item.entity) : emptyDraft));
  const [draft, setDraft] = useState(() => ({
    ...before,
    project_id: item.proposal.assign_project_id ?? before.project_id,
    epic_id: item.proposal.assign_epic_id ?? before.epic_id,
  }));
  const [name, setName] = useState(item.proposal.epic_name ?? '');
  const [description, setDescription] = useState(item.proposal.epic_description ?? '');
  const submit = () =>
    onSubmit(isEpic ? { epic_name: name, epic_description: description } : { entity: changesOf(before, draft) });
  return (
    <DialogContent title={isEpic ? 'Edit the new epic' : 'Edit and accept'} className="max-w-2xl">
      <form
        className="space-y-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!pending) submit();
        }}
        data-testid="review-edit-form"
      >
        {isEpic ? (
          <>
            <Labelled label="Name">
              {(props) => (
                <Input
                  {...props}
                  value={name}
                  onChange={(event) => setName(event.target.value)}
                  data-testid="edit-epic-name"
                />
              )}
            </Labelled>
            <Labelled label="Description">
              {(props) => (
                <Textarea {...props} value={description} onChange={(event) => setDescription(event.target.value)} />
              )}
            </Labelled>
          </>
        ) : (
          <EntityFields draft={draft} error={error} onChange={(change) => setDraft({ ...draft, ...change })} />
        )}
        {error && (isEpic || !isShownAtField(error)) && <ChangeProblem error={error} reload={reload} />}
        <div className="flex justify-end gap-2">
          <DialogClose asChild>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" variant="primary" disabled={pending} data-testid="edit-accept">
            {pending ? 'Accepting…' : 'Accept with changes'}
          </Button>
        </div>
      </form>
    </DialogContent>
  );
}
