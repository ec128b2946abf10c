/** The projects and their epics, to choose what the board shows. On a narrow screen a select replaces the sidebar. */
import { FolderPlus, Pencil, Plus } from 'lucide-react';
import type { Project } from '@/api/types';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Select } from '@/ui/input';
import type { Subject } from './project-dialog';
import type { BoardPageSearch } from './search';

interface Props {
  projects: readonly Project[];
  search: BoardPageSearch;
  editable: boolean;
  choose: (place: Pick<BoardPageSearch, 'project' | 'epic'>) => void;
  edit: (subject: Subject) => void;
}

export function Sidebar({ projects, search, editable, choose, edit }: Props) {
  return (
    <nav
      aria-label="Projects"
      className="w-60 shrink-0 max-lg:hidden 2xl:w-72"
      data-palette="folded"
      data-testid="board-projects"
    >
      <div className="flex min-h-8 items-center justify-between px-2">
        <h2 className="text-xs font-semibold text-ink-soft">Projects</h2>
        {editable && (
          <Button
            size="icon"
            variant="ghost"
            aria-label="New project"
            title="New project"
            onClick={() => edit({ kind: 'new project' })}
            data-testid="project-new"
          >
            <FolderPlus aria-hidden />
          </Button>
        )}
      </div>
      <ul className="space-y-0.5">
        <Entry label="All projects" current={!search.project} onChoose={() => choose({})} />
        {projects.map((project) => (
          <Entry
            key={project.id}
            label={project.name}
            closed={project.status === 'archived'}
            count={project.open_count}
            current={search.project === project.id && !search.epic}
            onChoose={() => choose({ project: project.id })}
            onEdit={editable ? () => edit({ kind: 'project', project }) : undefined}
          >
            {search.project === project.id && (
              <ul className="mt-0.5 ml-3 space-y-0.5 border-l border-line pl-1">
                {project.epics.map((epic) => (
                  <Entry
                    key={epic.id}
                    label={epic.name}
                    closed={epic.status === 'done'}
                    current={search.epic === epic.id}
                    onChoose={() => choose({ project: project.id, epic: epic.id })}
                    onEdit={editable ? () => edit({ kind: 'epic', project, epic }) : undefined}
                  />
                ))}
                {editable && (
                  <li>
                    <Button
                      size="sm"
                      variant="ghost"
                      onClick={() => edit({ kind: 'new epic', project })}
                      data-testid="epic-new"
                    >
                      <Plus aria-hidden /> New epic
                    </Button>
                  </li>
                )}
              </ul>
            )}
          </Entry>
        ))}
        <Entry label="No project" current={search.project === 'none'} onChoose={() => choose({ project: 'none' })} />
      </ul>
      {projects.length === 0 && (
        <p className="px-2 pt-2 text-[13px] text-ink-soft">
          No projects yet. Create one, with a description that tells the model what belongs to it.
        </p>
      )}
    </nav>
  );
}

function Entry({
  label,
  count,
  closed = false,
  current,
  onChoose,
  onEdit,
  children,
}: {
  label: string;
  count?: number;
  closed?: boolean;
  current: boolean;
  onChoose: () => void;
  onEdit?: () => void;
  children?: React.ReactNode;
}) {
  return (
    <li>
      <div className={cn('group flex items-center rounded-md hover:bg-sunken', current && 'bg-accent-soft')}>
        <button
          type="button"
          aria-current={current ? 'true' : undefined}
          className={cn(
            'flex min-h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-left',
            current && 'font-medium',
          )}
          onClick={onChoose}
          data-testid="board-place"
        >
          <span className={cn('min-w-0 flex-1 truncate', closed && 'text-ink-soft line-through')} title={label}>
            {label}
          </span>
          {count !== undefined && count > 0 && (
            <span className="text-xs font-normal text-ink-soft tabular-nums">
              {count}
              <span className="sr-only"> open</span>
            </span>
          )}
        </button>
        {onEdit && (
          <Button
            size="icon"
            variant="ghost"
            className="size-7 opacity-60 group-hover:opacity-100 focus-visible:opacity-100"
            aria-label={`Edit ${label}`}
            onClick={onEdit}
            data-testid="place-edit"
          >
            <Pencil aria-hidden />
          </Button>
        )}
      </div>
      {children}
    </li>
  );
}

/** Replaces the sidebar on a narrow screen. The palette takes its actions from the sidebar. */
export function PlaceSelect({ projects, search, editable, choose, edit }: Props) {
  const project = projects.find((one) => one.id === search.project);
  const epic = project?.epics.find((one) => one.id === search.epic);
  return (
    <div className="flex w-full items-center gap-1 lg:hidden" data-palette="none">
      <Select
        className="min-w-0 flex-1"
        aria-label="Project or epic"
        value={[search.project, search.epic].filter(Boolean).join(' ')}
        onChange={(event) => {
          const [chosen, part] = event.target.value.split(' ');
          choose({ project: chosen || undefined, epic: part });
        }}
        data-testid="board-place-select"
      >
        <option value="">All projects</option>
        {projects.map((one) => (
          <optgroup key={one.id} label={one.name}>
            <option value={one.id}>{one.name}: everything</option>
            {one.epics.map((part) => (
              <option key={part.id} value={`${one.id} ${part.id}`}>
                {part.name}
              </option>
            ))}
          </optgroup>
        ))}
        <option value="none">No project</option>
      </Select>
      {editable && project && (
        <>
          <Button
            size="icon"
            variant="ghost"
            aria-label={`Edit ${epic?.name ?? project.name}`}
            onClick={() => edit(epic ? { kind: 'epic', project, epic } : { kind: 'project', project })}
          >
            <Pencil aria-hidden />
          </Button>
          <Button
            size="icon"
            variant="ghost"
            aria-label={`New epic in ${project.name}`}
            onClick={() => edit({ kind: 'new epic', project })}
          >
            <Plus aria-hidden />
          </Button>
        </>
      )}
      {editable && (
        <Button size="icon" variant="ghost" aria-label="New project" onClick={() => edit({ kind: 'new project' })}>
          <FolderPlus aria-hidden />
        </Button>
      )}
    </div>
  );
}
