/** Creates, shows, changes and deletes an entity. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, body } from '@/api/client';
import * as notes from '@/api/notes';
import { asProblem } from '@/api/problem';
import type { Entity } from '@/api/types';
import { useScope } from '@/app/scope';
import { invalidate } from '@/live/notes';
import { percent } from '@/text/format';
import { Button } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { ChangeProblem } from '@/ui/conflict';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';
import { Ago } from '@/ui/time';
import { changesOf, type Draft, draftOf, emptyDraft, inputOf } from './draft';
import { EntityFields, isShownAtField } from './entity-fields';
import { stateLabels, typeLabel } from './labels';

const touched = new Set(['entities', 'projects', 'tags', 'notes', 'review'] as const);

/** The dialog for a new entity, filed under the project and epic shown on the board. */
export function NewEntity({ filed, onClose }: { filed: Partial<Draft>; onClose: () => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>({ ...emptyDraft, ...filed });
  const create = useMutation({
    mutationFn: () => body(api.POST('/api/v1/entities', { body: inputOf(draft) })),
    onSuccess: () => {
      invalidate(client, touched);
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent title={`New ${typeLabel(draft.type).toLowerCase()}`} className="max-w-2xl">
        <EntityForm
          draft={draft}
          onChange={(change) => setDraft({ ...draft, ...change })}
          error={create.error}
          pending={create.isPending}
          action="Create"
          onSubmit={() => create.mutate()}
          reload={() => create.reset()}
        />
      </DialogContent>
    </Dialog>
  );
}

/** The dialog of an existing entity. */
export function EntityDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [deleting, setDeleting] = useState(false);
  // An entity that is being deleted is not loaded again: its event can arrive before the response.
  const found = useQuery({ ...notes.entity(id), enabled: !deleting });
  const [held, setHeld] = useState(found.data);
  if (held === undefined && found.data !== undefined) setHeld(found.data);
  const reload = async () => {
    const { data } = await found.refetch();
    if (data) setHeld(data);
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent title={held ? typeLabel(held.type) : 'Entity'} className="max-w-2xl">
        {held ? (
          <EditEntity
            key={held.version}
            entity={held}
            reload={() => void reload()}
            onDeleting={setDeleting}
            onClose={onClose}
          />
        ) : found.isError ? (
          <ProblemPanel
            error={found.error}
            retry={asProblem(found.error).status === 404 ? undefined : () => void found.refetch()}
          />
        ) : (
          <Loading what="the entity" />
        )}
      </DialogContent>
    </Dialog>
  );
}

interface EditEntityProps {
  entity: Entity;
  reload: () => void;
  /** Reports that a deletion has begun, or has failed. */
  onDeleting: (deleting: boolean) => void;
  onClose: () => void;
}

function EditEntity({ entity, reload, onDeleting, onClose }: EditEntityProps) {
  const client = useQueryClient();
  const may = useScope('write');
  const [before] = useState(() => draftOf(entity));
  const [draft, setDraft] = useState(before);
  const [deleting, setDeleting] = useState(false);
  const params = { path: { id: entity.id }, header: notes.ifMatch(entity.version) };
  const finish = () => {
    client.removeQueries({ queryKey: notes.entity(entity.id).queryKey });
    invalidate(client, touched);
    onClose();
  };
  const save = useMutation({
    mutationFn: () => body(api.PATCH('/api/v1/entities/{id}', { params, body: changesOf(before, draft) })),
    onSuccess: finish,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/api/v1/entities/{id}', { params }),
    onMutate: () => onDeleting(true),
    onError: () => onDeleting(false),
    onSuccess: finish,
  });
  const submit = () => (Object.keys(changesOf(before, draft)).length === 0 ? onClose() : save.mutate());
  return (
    <div className="space-y-4">
      <Origin entity={entity} />
      <EntityForm
        draft={draft}
        onChange={(change) => setDraft({ ...draft, ...change })}
        error={save.error}
        pending={save.isPending}
        action="Save"
        onSubmit={submit}
        readOnly={!may}
        reload={() => {
          save.reset();
          reload();
        }}
        onDelete={() => setDeleting(true)}
      />
      <Confirm
        open={deleting}
        onOpenChange={(open) => {
          setDeleting(open);
          remove.reset();
        }}
        title={`Delete “${entity.title}”?`}
        action="Delete"
        danger
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        testId="entity-delete-confirm"
      >
        It disappears from the board. The note that it came from stays. This cannot be undone.
      </Confirm>
    </div>
  );
}

/** The origin of the entity: confidence, quotes, notes and session. */
function Origin({ entity }: { entity: Entity }) {
  return (
    <div className="space-y-2 text-[13px] text-ink-soft" data-testid="entity-origin">
      <p className="flex flex-wrap gap-x-3 gap-y-1">
        {stateLabels[entity.state] && <span className="font-medium text-warn">{stateLabels[entity.state]}</span>}
        <span>
          Created by {entity.created_by} <Ago at={entity.created_at} />
        </span>
        {entity.confidence !== null && <span>{percent(entity.confidence)} sure</span>}
        {entity.session_id && (
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: entity.session_id }}
            className="text-accent underline underline-offset-4"
          >
            Open session
          </Link>
        )}
      </p>
      {entity.sources.map((source) => (
        <blockquote
          key={`${source.note_id} ${source.start_offset}`}
          className="border-l-2 border-accent pl-3 break-words whitespace-pre-wrap"
        >
          {source.quote}{' '}
          <Link
            to="/notes/$noteId"
            params={{ noteId: source.note_id }}
            className="text-accent underline underline-offset-4"
          >
            Open note
          </Link>
        </blockquote>
      ))}
    </div>
  );
}

function EntityForm(props: {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  error: Error | null;
  pending: boolean;
  action: string;
  readOnly?: boolean;
  onSubmit: () => void;
  reload: () => void;
  onDelete?: () => void;
}) {
  const { error, readOnly = false } = props;
  return (
    <form
      className="space-y-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!props.pending && !readOnly) props.onSubmit();
      }}
      data-testid="entity-form"
    >
      <fieldset disabled={readOnly} className="contents">
        <legend className="sr-only">Fields</legend>
        <EntityFields draft={props.draft} error={error} onChange={props.onChange} />
      </fieldset>
      {error && !isShownAtField(error) && <ChangeProblem error={error} reload={props.reload} />}
      <div className="flex flex-wrap justify-end gap-2">
        {props.onDelete && !readOnly && (
          <Button variant="danger" className="mr-auto" onClick={props.onDelete} data-testid="entity-delete">
            <Trash2 aria-hidden /> Delete
          </Button>
        )}
        <DialogClose asChild>
          <Button>{readOnly ? 'Close' : 'Cancel'}</Button>
        </DialogClose>
        {!readOnly && (
          <Button type="submit" variant="primary" disabled={props.pending} data-testid="entity-save">
            {props.pending ? 'Saving…' : props.action}
          </Button>
        )}
      </div>
    </form>
  );
}
