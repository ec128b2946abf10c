/** The command palette: actions of the current page, pages, sessions by text or id, settings. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { BookOpen, Clock, CornerDownLeft, Keyboard, Search } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { titleOf } from '@/alert/facts';
import { severityLabel } from '@/alert/severity';
import { asProblem } from '@/api/problem';
import * as queries from '@/api/queries';
import { withoutMarks } from '@/text/citation';
import { ago, firstLine, shortId } from '@/text/format';
import { useZone, zone, zoneName, zones } from '@/text/zone';
import { useDebounced } from '@/ui/debounced';
import { Kbd } from '@/ui/kbd';
import { useNow } from '@/ui/now';
import { SessionIcon } from '@/ui/outcome';
import { useFocusReturn } from '@/ui/overlay';
import { type Choice, matching } from './choice';
import { useCommands } from './commands';
import { themeIcons, themeLabels } from './menus';
import { nameOf, navigation } from './navigation';
import { pageActions } from './page-actions';
import { sessionIdIn } from './sessionid';
import type { Typeahead } from './shortcuts';
import { themeChoices, useTheme } from './theme';

const mostSessions = 8;

interface Props {
  /** Keys typed before the palette was loaded. */
  ahead: Typeahead;
  onOpenChange: (open: boolean) => void;
  onHelp: () => void;
}

export function Palette({ ahead, onOpenChange, onHelp }: Props) {
  const [typed, setTyped] = useState('');
  useEffect(() => setTyped((text) => ahead.take() + text), [ahead]);
  const field = useRef<HTMLInputElement>(null);
  const chosen = useRef<Choice>(undefined);
  // Otherwise the dialog selects the text of the field, and the next key replaces what was typed ahead.
  const focusReturn = useFocusReturn(field);
  const before = useLocalChoices(typed);
  const after = useSettingChoices(onHelp);
  const choose = (choice: Choice) => {
    if (choice.keepOpen) return choice.run();
    chosen.current = choice;
    onOpenChange(false);
  };
  const groups = (list: Record<string, readonly Choice[]>) =>
    Object.entries(list).map(([heading, choices]) => (
      <Group key={heading} heading={heading} choices={matching(choices, typed)} onChoose={choose} />
    ));

  return (
    <Dialog.Root open onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[10vh] left-1/2 z-50 w-[calc(100vw-1rem)] max-w-xl -translate-x-1/2 rounded-lg border border-line bg-raised shadow-xl"
          // The choice runs after the palette has closed: it may move the focus or open a dialog.
          onOpenAutoFocus={focusReturn.onOpenAutoFocus}
          onCloseAutoFocus={(event) => {
            focusReturn.onCloseAutoFocus(event);
            chosen.current?.run();
          }}
          data-testid="palette"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" loop vimBindings={false} shouldFilter={false}>
            <div className="flex items-center gap-2 border-b border-line px-3">
              <Search className="size-4 shrink-0 text-ink-soft" aria-hidden />
              <Command.Input
                ref={field}
                value={typed}
                onValueChange={setTyped}
                placeholder="Search pages, commands and sessions"
                className="h-11 w-full bg-transparent outline-none placeholder:text-ink-faint"
              />
              <Kbd keys="Esc" className="max-sm:hidden" />
            </div>
            <Command.List className="max-h-[min(24rem,60vh)] overflow-auto p-1">
              {groups(before)}
              <FoundSessions typed={typed} onChoose={choose} />
              {groups(after)}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The actions of the current page and the pages to go to. */
function useLocalChoices(typed: string): Record<string, readonly Choice[]> {
  const commands = useCommands();
  // Read once: the page does not change while the palette is open.
  const [here] = useState(() =>
    pageActions(
      document.querySelector('main'),
      commands.map(({ label }) => label),
    ),
  );
  const navigate = useNavigate();
  const sessionId = sessionIdIn(typed);
  const pasted: Choice = {
    id: 'pasted',
    label: `Open session ${sessionId}`,
    keywords: [typed],
    icon: <CornerDownLeft aria-hidden />,
    run: () => void navigate({ to: '/sessions/$sessionId', params: { sessionId } }),
  };
  return {
    Session: sessionId === '' ? [] : [pasted],
    'On this page': [...commands, ...here],
    'Go to': navigation.map((entry) => ({
      id: entry.key,
      label: nameOf(entry),
      icon: <entry.icon aria-hidden />,
      keys: `g ${entry.key}`,
      run: () => void navigate({ to: entry.to, search: entry.search ?? {} }),
    })),
  };
}

function useSettingChoices(onHelp: () => void): Record<string, readonly Choice[]> {
  const [theme, choose] = useTheme();
  const themes = themeChoices.map((choice) => {
    const Icon = themeIcons[choice];
    return {
      id: choice,
      label: `Theme: ${themeLabels[choice]}${choice === theme ? ' (current)' : ''}`,
      icon: <Icon aria-hidden />,
      keepOpen: true,
      run: () => choose(choice),
    };
  });
  const inZone = useZone();
  const zoneChoices = zones.map((choice) => ({
    id: `zone ${choice}`,
    label: `Times in ${choice === 'utc' ? 'UTC' : `local time, ${zoneName(choice)}`}${choice === inZone ? ' (current)' : ''}`,
    keywords: ['time zone', 'clock'],
    icon: <Clock aria-hidden />,
    keepOpen: true,
    run: () => zone.set(choice),
  }));
  return {
    Settings: [
      ...themes,
      ...zoneChoices,
      {
        id: 'help',
        label: 'Keyboard shortcuts',
        keywords: ['help'],
        icon: <Keyboard aria-hidden />,
        keys: '?',
        run: onHelp,
      },
      {
        id: 'documentation',
        label: 'Documentation',
        keywords: ['help', 'docs', 'manual', 'troubleshooting'],
        icon: <BookOpen aria-hidden />,
        run: () => window.open('/docs', '_blank', 'noopener'),
      },
    ],
  };
}

/** Sessions found by the server's text search. */
function FoundSessions({ typed, onChoose }: { typed: string; onChoose: (choice: Choice) => void }) {
  const text = useDebounced(typed.trim(), 300);
  const now = useNow(10_000);
  const navigate = useNavigate();
  const wanted = text.length > 1 && sessionIdIn(typed) === '';
  const found = useInfiniteQuery({ ...queries.sessions({ search: text, order: 'newest' }), enabled: wanted });
  if (!wanted) return null;
  if (found.isPending) return <Notice>Searching sessions…</Notice>;
  if (found.data === undefined) return <Notice>Session search failed: {asProblem(found.error).message}</Notice>;
  const rows = found.data.pages.flatMap((page) => page.sessions).slice(0, mostSessions);
  if (rows.length === 0) return <Notice>No sessions match “{text}”.</Notice>;
  const choices = rows.map((row) => ({
    id: row.id,
    label: titleOf(row),
    detail: [
      row.severity && severityLabel(row.severity),
      row.service,
      ago(row.created_at, now),
      firstLine(withoutMarks(row.cause || row.executive_summary || row.error_message)) || shortId(row.id),
    ]
      .filter(Boolean)
      .join(' · '),
    icon: <SessionIcon session={row} />,
    run: () => void navigate({ to: '/sessions/$sessionId', params: { sessionId: row.id } }),
  }));
  return <Group heading="Sessions" choices={choices} onChoose={onChoose} />;
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="px-2 py-1.5 text-xs break-words text-ink-soft">
      {children}
    </p>
  );
}

function Group({
  heading,
  choices,
  onChoose,
}: {
  heading: string;
  choices: readonly (Choice & { detail?: string })[];
  onChoose: (choice: Choice) => void;
}) {
  if (choices.length === 0) return null;
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-ink-soft"
    >
      {choices.map((choice) => (
        <Command.Item
          key={choice.id}
          value={`${heading} ${choice.id}`}
          onSelect={() => onChoose(choice)}
          className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 data-[selected=true]:bg-sunken [&_svg]:size-4 [&_svg]:shrink-0"
        >
          <span className="flex w-4 shrink-0 justify-center text-ink-soft">{choice.icon}</span>
          <span className="min-w-0 flex-1 break-words">
            <span className="line-clamp-2">{choice.label}</span>
            {choice.detail && <span className="block truncate text-xs text-ink-soft">{choice.detail}</span>}
          </span>
          {choice.keys && <Kbd keys={choice.keys} className="max-sm:hidden" />}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
