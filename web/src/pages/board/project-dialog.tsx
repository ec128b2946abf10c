/** Creates, changes and deletes projects and epics: both have a name, a description and a status. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, body } from '@/api/client';
import { ifMatch } from '@/api/notes';
import { asProblem } from '@/api/problem';
import type { Epic, Project } from '@/api/types';
import { invalidate } from '@/live/notes';
import { Button } from '@/ui/button';
import { Confirm } from '@/ui/confirm';
import { ChangeProblem } from '@/ui/conflict';
import { Input, Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';

/** The subject of the dialog. */
export type Subject =
  | { kind: 'new project' }
  | { kind: 'project'; project: Project }
  | { kind: 'new epic'; project: Project }
  | { kind: 'epic'; project: Project; epic: Epic };

const touched = new Set(['projects', 'entities', 'review'] as const);

const titles: Record<Subject['kind'], string> = {
  'new project': 'New project',
  project: 'Edit project',
  'new epic': 'New epic',
  epic: 'Edit epic',
};

interface Values {
  name: string;
  description: string;
  /** Archived for a project, done for an epic: nothing new can be filed under it. */
  closed: boolean;
}

function valuesOf(subject: Subject): Values {
  switch (subject.kind) {
    case 'project':
      return { ...subject.project, closed: subject.project.status === 'archived' };
    case 'epic':
      return { ...subject.epic, closed: subject.epic.status === 'done' };
    default:
      return { name: '', description: '', closed: false };
  }
}

function save(subject: Subject, { name, description, closed }: Values): Promise<unknown> {
  switch (subject.kind) {
    case 'new project':
      return body(api.POST('/api/v1/projects', { body: { name, description } }));
    case 'new epic':
      return body(
        api.POST('/api/v1/projects/{id}/epics', {
          params: { path: { id: subject.project.id } },
          body: { name, description },
        }),
      );
    case 'project':
      return body(
        api.PATCH('/api/v1/projects/{id}', {
          params: { path: { id: subject.project.id }, header: ifMatch(subject.project.version) },
          body: { name, description, status: closed ? 'archived' : 'active' },
        }),
      );
    case 'epic':
      return body(
        api.PATCH('/api/v1/epics/{id}', {
          params: { path: { id: subject.epic.id }, header: ifMatch(subject.epic.version) },
          body: { name, description, status: closed ? 'done' : 'open' },
        }),
      );
  }
}

async function remove(subject: Subject): Promise<void> {
  if (subject.kind === 'project') {
    const { id, version } = subject.project;
    await api.DELETE('/api/v1/projects/{id}', { params: { path: { id }, header: ifMatch(version) } });
  } else if (subject.kind === 'epic') {
    const { id, version } = subject.epic;
    await api.DELETE('/api/v1/epics/{id}', { params: { path: { id }, header: ifMatch(version) } });
  }
}

export function SubjectDialog({
  subject,
  onClose,
  onDeleted,
}: {
  subject: Subject;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const client = useQueryClient();
  const [values, setValues] = useState(() => valuesOf(subject));
  const [deleting, setDeleting] = useState(false);
  const set = (change: Partial<Values>) => setValues({ ...values, ...change });
  const saving = useMutation({
    mutationFn: () => save(subject, { ...values, name: values.name.trim() }),
    onSuccess: () => {
      invalidate(client, touched);
      onClose();
    },
  });
  const removing = useMutation({
    mutationFn: () => remove(subject),
    onSuccess: () => {
      invalidate(client, touched);
      onDeleted();
      onClose();
    },
  });
  const exists = subject.kind === 'project' || subject.kind === 'epic';
  const isEpic = subject.kind === 'epic' || subject.kind === 'new epic';
  const problem = saving.error && asProblem(saving.error);
  const errorAt = (field: string) => (problem?.field === field ? problem.message : undefined);
  const shownAtField = problem?.field === 'name' || problem?.field === 'description';
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent title={titles[subject.kind]}>
        <form
          className="space-y-4"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (!saving.isPending) saving.mutate();
          }}
          data-testid="subject-form"
        >
          <Labelled label="Name" error={errorAt('name')}>
            {(props) => (
              <Input
                {...props}
                autoComplete="off"
                value={values.name}
                onChange={(event) => set({ name: event.target.value })}
                data-testid="subject-name"
              />
            )}
          </Labelled>
          <Labelled
            label="Description"
            hint="The model reads it when it files what it extracted."
            error={errorAt('description')}
          >
            {(props) => (
              <Textarea
                {...props}
                value={values.description}
                onChange={(event) => set({ description: event.target.value })}
                data-testid="subject-description"
              />
            )}
          </Labelled>
          {exists && (
            <label className="flex cursor-pointer items-start gap-2">
              <input
                type="checkbox"
                className="mt-0.5 size-4 shrink-0 accent-accent"
                checked={values.closed}
                onChange={(event) => set({ closed: event.target.checked })}
                data-testid="subject-closed"
              />
              <span>
                {isEpic ? 'Done' : 'Archived'}
                <span className="block text-[13px] text-ink-soft">Nothing new is filed under it.</span>
              </span>
            </label>
          )}
          {problem && !shownAtField && <ChangeProblem error={problem} reload={onClose} />}
          <div className="flex flex-wrap justify-end gap-2">
            {exists && (
              <Button
                variant="danger"
                className="mr-auto"
                onClick={() => setDeleting(true)}
                data-testid="subject-delete"
              >
                <Trash2 aria-hidden /> Delete
              </Button>
            )}
            <DialogClose asChild>
              <Button>Cancel</Button>
            </DialogClose>
            <Button type="submit" variant="primary" disabled={saving.isPending} data-testid="subject-save">
              {saving.isPending ? 'Saving…' : exists ? 'Save' : 'Create'}
            </Button>
          </div>
        </form>
        <Confirm
          open={deleting}
          onOpenChange={(open) => {
            setDeleting(open);
            removing.reset();
          }}
          title={`Delete ${isEpic ? 'epic' : 'project'} “${valuesOf(subject).name}”?`}
          action="Delete"
          danger
          busy={removing.isPending}
          error={removing.error}
          onConfirm={() => removing.mutate()}
          testId="subject-delete-confirm"
        >
          {isEpic ? 'Its items stay in the project.' : 'Its epics are deleted. Its items are kept without a project.'}{' '}
          This cannot be undone.
        </Confirm>
      </DialogContent>
    </Dialog>
  );
}
