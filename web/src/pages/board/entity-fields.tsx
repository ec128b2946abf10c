/** The fields of an entity, for creating it, changing it, or editing a proposal. */
import { useQuery } from '@tanstack/react-query';
import { projects as projectsQuery } from '@/api/notes';
import { asProblem } from '@/api/problem';
import { Input, Select, Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import type { Draft } from './draft';
import { statusLabels, typeNames, types } from './labels';
import { columns } from './order';

export function EntityFields({
  draft,
  onChange,
  error,
}: {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  /** The server's error; a message about one field is shown next to it. */
  error: Error | null;
}) {
  const { data } = useQuery(projectsQuery());
  const projects = data?.projects ?? [];
  const epics = projects.find((project) => project.id === draft.project_id)?.epics ?? [];
  const problem = error && asProblem(error);
  const errorAt = (field: string) => (problem && isAt(problem.field, field) ? problem.message : undefined);
  return (
    <div className="space-y-3">
      <Labelled label="Title" error={errorAt('title')}>
        {(props) => (
          <Input
            {...props}
            required
            value={draft.title}
            onChange={(event) => onChange({ title: event.target.value })}
            data-testid="entity-title"
          />
        )}
      </Labelled>
      <Labelled label="Details" error={errorAt('content')}>
        {(props) => (
          <Textarea
            {...props}
            className="field-sizing-content max-h-60"
            value={draft.content}
            onChange={(event) => onChange({ content: event.target.value })}
            data-testid="entity-content"
          />
        )}
      </Labelled>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
        <Labelled label="Type" error={errorAt('type')}>
          {(props) => (
            <Select
              {...props}
              value={draft.type}
              onChange={(event) => {
                const type = typeNames.find((name) => name === event.target.value);
                if (type) onChange({ type });
              }}
              data-testid="entity-type"
            >
              {typeNames.map((name) => (
                <option key={name} value={name}>
                  {types[name].label}
                </option>
              ))}
            </Select>
          )}
        </Labelled>
        <Labelled label="Status" error={errorAt('status')}>
          {(props) => (
            <Select
              {...props}
              value={draft.status}
              onChange={(event) => {
                const status = columns.find((name) => name === event.target.value);
                if (status) onChange({ status });
              }}
              data-testid="entity-status"
            >
              {columns.map((name) => (
                <option key={name} value={name}>
                  {statusLabels[name]}
                </option>
              ))}
            </Select>
          )}
        </Labelled>
        <Labelled label="Owner" error={errorAt('owner')}>
          {(props) => (
            <Input
              {...props}
              autoComplete="off"
              value={draft.owner}
              onChange={(event) => onChange({ owner: event.target.value })}
              data-testid="entity-owner"
            />
          )}
        </Labelled>
        <Labelled label="Due" error={errorAt('due_on')}>
          {(props) => (
            <Input
              {...props}
              type="date"
              value={draft.due_on}
              onChange={(event) => onChange({ due_on: event.target.value })}
              data-testid="entity-due"
            />
          )}
        </Labelled>
        <Labelled label="Project" error={errorAt('project_id')}>
          {(props) => (
            <Select
              {...props}
              value={draft.project_id}
              onChange={(event) => onChange({ project_id: event.target.value, epic_id: '' })}
              data-testid="entity-project"
            >
              <option value="">No project</option>
              {projects.map((project) => (
                <option key={project.id} value={project.id}>
                  {project.name}
                </option>
              ))}
            </Select>
          )}
        </Labelled>
        <Labelled label="Epic" error={errorAt('epic_id')}>
          {(props) => (
            <Select
              {...props}
              value={draft.epic_id}
              disabled={epics.length === 0}
              onChange={(event) => onChange({ epic_id: event.target.value })}
              data-testid="entity-epic"
            >
              <option value="">No epic</option>
              {epics.map((epic) => (
                <option key={epic.id} value={epic.id}>
                  {epic.name}
                </option>
              ))}
            </Select>
          )}
        </Labelled>
      </div>
      <Labelled label="Tags" hint="Separated by commas." error={errorAt('tags')}>
        {(props) => (
          <Input
            {...props}
            autoComplete="off"
            value={draft.tags}
            onChange={(event) => onChange({ tags: event.target.value })}
            data-testid="entity-tags"
          />
        )}
      </Labelled>
    </div>
  );
}

const shown = ['title', 'content', 'type', 'status', 'owner', 'due_on', 'project_id', 'epic_id', 'tags'];

/** Reports whether the server's name of a field, such as entity.title or tags[0], refers to this one. */
function isAt(named: string, field: string): boolean {
  return named === field || named.endsWith(`.${field}`) || named.includes(`${field}[`);
}

/** Reports whether an error is shown next to a field and needs no panel. */
export function isShownAtField(error: Error): boolean {
  const { field } = asProblem(error);
  return shown.some((name) => isAt(field, name));
}
