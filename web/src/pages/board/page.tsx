/** The board: projects and epics, and their tasks by status. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Download, FileJson, FileSpreadsheet, FileText, FilterX, Plus, Search, SquareKanban } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import * as notes from '@/api/notes';
import { usePageCommands } from '@/app/commands';
import { ReadOnlyNotice, useScope } from '@/app/scope';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { Button } from '@/ui/button';
import { ChangeProblem } from '@/ui/conflict';
import { EmptyState, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { Menu, MenuContent, MenuItem, MenuTrigger } from '@/ui/overlay';
import { Columns } from './columns';
import { EntityDialog, NewEntity } from './entity-dialog';
import { Filters } from './filters';
import { types } from './labels';
import { useBoard } from './moves';
import { columns } from './order';
import { type Subject, SubjectDialog } from './project-dialog';
import { type BoardPageSearch, dayName, exportAddress, filterOf, isFiltered } from './search';
import { PlaceSelect, Sidebar } from './sidebar';

const route = getRouteApi('/shell/board');

export function BoardPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<BoardPageSearch>) =>
    void navigate({ search: (last) => ({ ...last, ...part }), replace: 'q' in part, resetScroll: false });
  const clear = () => void navigate({ search: ({ project, epic }) => ({ project, epic }) });
  const editable = useScope('write');
  const projectList = useQuery(notes.projects());
  const projects = projectList.data?.projects ?? [];
  const today = dayName(useNow(60_000));
  const filter = useMemo(() => filterOf(search, new Date(`${today}T12:00:00`)), [search, today]);
  const board = useBoard(filter);
  const [making, setMaking] = useState(false);
  const [subject, setSubject] = useState<Subject>();
  const searchField = useRef<HTMLInputElement>(null);
  const project = projects.find((one) => one.id === search.project);
  const epic = project?.epics.find((one) => one.id === search.epic);
  const place = epic?.name ?? project?.name ?? (search.project === 'none' ? 'No project' : 'Board');
  useTitle(place === 'Board' ? 'Board' : `${place} · Board`);
  const type = search.type === undefined || search.type === 'all' ? 'task' : search.type;
  const newLabel = `New ${types[type].label.toLowerCase()}`;
  useShortcuts([
    { keys: '/', label: 'Search the board', group: 'Board', run: () => searchField.current?.focus() },
    ...(editable ? [{ keys: 'c', label: newLabel, group: 'Board', run: () => setMaking(true) }] : []),
  ]);
  usePageCommands([
    ...(editable
      ? [
          { id: 'new', label: newLabel, keywords: ['create'], icon: <Plus aria-hidden />, run: () => setMaking(true) },
          {
            id: 'new-project',
            label: 'New project',
            keywords: ['create'],
            icon: <Plus aria-hidden />,
            run: () => setSubject({ kind: 'new project' }),
          },
        ]
      : []),
    { id: 'search', label: 'Search the board', icon: <Search aria-hidden />, run: () => searchField.current?.focus() },
    ...(isFiltered(search) ? [{ id: 'clear', label: 'Clear filters', icon: <FilterX aria-hidden />, run: clear }] : []),
    ...projects.map((one) => ({
      id: `project-${one.id}`,
      label: `Show project ${one.name}`,
      icon: <SquareKanban aria-hidden />,
      run: () => change({ project: one.id, epic: undefined }),
    })),
  ]);
  const owners = [...new Set([...board.cards.values()].map((entity) => entity.owner).filter(Boolean))].sort();
  const loaded = columns.every((column) => board.found[column].data !== undefined);
  const empty = loaded && columns.every((column) => board.layout[column].length === 0);
  const places = { projects, search, editable, edit: setSubject };
  const choose = ({ project: chosen, epic: part }: Pick<BoardPageSearch, 'project' | 'epic'>) =>
    change({ project: chosen, epic: part });

  return (
    <div className="mx-auto flex w-full max-w-[150rem] gap-4 p-3 sm:p-4">
      <Sidebar {...places} choose={choose} />
      <div className="min-w-0 flex-1 space-y-3">
        <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="min-w-0 text-lg font-semibold break-words">{place}</h1>
          <div className="ml-auto flex items-center gap-2">
            <ExportMenu filter={filter} />
            {editable && (
              <Button size="sm" variant="primary" onClick={() => setMaking(true)} data-testid="entity-new">
                <Plus aria-hidden /> {newLabel}
              </Button>
            )}
          </div>
        </div>
        {(epic ?? project)?.description && (
          <p className="max-w-prose break-words whitespace-pre-wrap text-ink-soft">{(epic ?? project)?.description}</p>
        )}
        <ReadOnlyNotice />
        <PlaceSelect {...places} choose={choose} />
        {projectList.isError && <ProblemPanel error={projectList.error} retry={() => void projectList.refetch()} />}
        <Filters search={search} owners={owners} change={change} clear={clear} field={searchField} />
        {board.error && <ChangeProblem error={board.error} reload={board.dismiss} />}
        {empty ? (
          <NothingHere filtered={isFiltered(search)} clear={clear} />
        ) : (
          <Columns
            board={board}
            projects={projects}
            showType={search.type === 'all'}
            editable={editable}
            onOpen={(entity) => change({ entity: entity.id })}
          />
        )}
      </div>
      {making && (
        <NewEntity
          filed={{ type, project_id: project?.id ?? '', epic_id: epic?.id ?? '' }}
          onClose={() => setMaking(false)}
        />
      )}
      {search.entity && (
        <EntityDialog key={search.entity} id={search.entity} onClose={() => change({ entity: undefined })} />
      )}
      {subject && (
        <SubjectDialog
          subject={subject}
          onClose={() => setSubject(undefined)}
          onDeleted={() => choose(subject.kind === 'epic' ? { project: subject.project.id } : {})}
        />
      )}
    </div>
  );
}

function NothingHere({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) {
    return (
      <EmptyState title={<h2>Nothing matches these filters</h2>} icon={<FilterX aria-hidden />}>
        <p>Change or clear the filters to see more of the board.</p>
        <Button className="mt-3" onClick={clear}>
          Clear filters
        </Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={<h2>No tasks here yet</h2>} icon={<SquareKanban aria-hidden />}>
      <p>
        Tasks come from{' '}
        <Link to="/notes" className="text-accent underline underline-offset-4">
          notes
        </Link>
        : capture one, and what it says is filed here. You can also create a task yourself.
      </p>
    </EmptyState>
  );
}

/** Exports everything that the board shows to a file. */
function ExportMenu({ filter }: { filter: notes.EntityFilter }) {
  const items: readonly { format: 'csv' | 'json' | 'markdown'; label: string; icon: ReactNode }[] = [
    { format: 'csv', label: 'Table (CSV)', icon: <FileSpreadsheet aria-hidden /> },
    { format: 'json', label: 'All data (JSON)', icon: <FileJson aria-hidden /> },
    { format: 'markdown', label: 'List (Markdown)', icon: <FileText aria-hidden /> },
  ];
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button size="sm" data-testid="board-export">
          <Download aria-hidden /> Export
        </Button>
      </MenuTrigger>
      <MenuContent>
        {items.map(({ format, label, icon }) => (
          <MenuItem key={format} asChild>
            <a href={exportAddress(format, filter)} download data-testid={`export-${format}`}>
              {icon} {label}
            </a>
          </MenuItem>
        ))}
      </MenuContent>
    </Menu>
  );
}
