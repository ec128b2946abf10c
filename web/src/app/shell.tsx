/** The frame around every page behind the login: navigation, connection banner, palette, keyboard shortcuts. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import * as queries from '@/api/queries';
import { useLiveNotes } from '@/live/hooks';
import { Button } from '@/ui/button';
import { Kbd } from '@/ui/kbd';
import { useMedia } from '@/ui/media';
import { BudgetLeft } from './budget';
import { ConnectionBanner, ConnectionLight } from './connection';
import { DegradedBadge } from './degraded';
import { explainMissing } from './failure';
import { leaveAndReturn } from './leave';
import { Mark } from './mark';
import { MenuFace, moreLabel } from './menu-face';
import { entryLook, entryOf, groups, nameOf, navigation } from './navigation';
import { PauseBanner } from './pauses';
import { Typeahead, useKeyboard, useShortcuts } from './shortcuts';
import { useLiveApprovals, Waiting } from './waiting';

const loadPalette = () => import('./palette');
// The menus and dialogs are as large as a page, and reading a page needs none of them.
const loadMenus = () => import('./menus');
const PagesMenu = lazy(() => loadMenus().then((menus) => ({ default: menus.PagesMenu }), explainMissing));
const HeaderMenus = lazy(() => loadMenus().then((menus) => ({ default: menus.HeaderMenus }), explainMissing));
const KeyboardHelp = lazy(() => import('./help').then((help) => ({ default: help.KeyboardHelp }), explainMissing));
const Palette = lazy(() => loadPalette().then((module) => ({ default: module.Palette }), explainMissing));

export function Shell() {
  const [over, setOver] = useState<'palette' | 'help' | 'nothing'>('nothing');
  const [ahead] = useState(() => new Typeahead());
  const openPalette = () => {
    // Keys typed while the palette loads belong to its field; otherwise single letters would trigger shortcuts.
    ahead.begin();
    setOver('palette');
  };
  const navigate = useNavigate();
  const main = useRef<HTMLElement>(null);
  useKeyboard(ahead);
  const arrived = useArrival(main);
  useLoginCheck();
  useLiveNotes();
  useLiveApprovals();
  useShortcuts([
    { keys: 'mod+k', label: 'Search and commands', group: 'Everywhere', run: () => openPalette() },
    { keys: '?', label: 'Keyboard shortcuts', group: 'Everywhere', run: () => setOver('help') },
    ...navigation.map((entry) => ({
      keys: `g ${entry.key}`,
      label: `Go to ${nameOf(entry)}`,
      group: 'Everywhere',
      run: () => void navigate({ to: entry.to, search: entry.search ?? {} }),
    })),
  ]);
  useEffect(() => {
    if (over !== 'palette') ahead.take();
  }, [over, ahead]);
  const shown = (which: typeof over) => (open: boolean) => setOver(open ? which : 'nothing');

  return (
    <div className="flex h-dvh flex-col max-md:pb-14">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads within the page, and keeps that out of its address. */}
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 font-medium text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <header className="flex h-12 shrink-0 items-center gap-1 border-b border-line bg-surface px-3 sm:gap-2 sm:px-4">
        <Link to="/" className="mr-2 flex items-center gap-2 font-semibold tracking-tight" aria-label="TARSy sessions">
          <Mark />
          TARSy
        </Link>
        <Navigation />
        <div className="flex-1" />
        <Button
          className="text-ink-soft max-lg:size-8 max-lg:border-transparent max-lg:px-0 lg:w-44 lg:justify-start 2xl:w-56"
          size="sm"
          aria-label="Search and commands"
          aria-keyshortcuts="Control+K Meta+K"
          onPointerEnter={() => void loadPalette().catch(() => {})}
          onClick={() => openPalette()}
          data-testid="palette-open"
        >
          <Search aria-hidden />
          <span className="flex-1 truncate text-left max-lg:hidden">Search or jump to…</span>
          <Kbd keys="mod+k" className="max-lg:hidden" />
        </Button>
        <BudgetLeft />
        <DegradedBadge />
        <ConnectionLight />
        <Suspense fallback={<span className="h-8 w-[7.4rem] max-lg:w-20" />}>
          <HeaderMenus onHelp={() => setOver('help')} />
        </Suspense>
      </header>
      <p className="sr-only" aria-live="polite">
        {arrived}
      </p>
      <ConnectionBanner />
      <PauseBanner />
      <main
        ref={main}
        id="main"
        tabIndex={-1}
        className="relative min-h-0 flex-1 overflow-auto"
        data-scroll-restoration-id="main"
      >
        <Outlet />
      </main>
      {over === 'palette' && (
        <Suspense>
          <Palette ahead={ahead} onOpenChange={shown('palette')} onHelp={() => setOver('help')} />
        </Suspense>
      )}
      {over === 'help' && (
        <Suspense>
          <KeyboardHelp onOpenChange={shown('help')} />
        </Suspense>
      )}
    </div>
  );
}

/** In the top bar; on a narrow screen at the bottom, in reach of a thumb. Without much space the groups are one menu. */
function Navigation() {
  const here = useRouterState({ select: ({ location }) => entryOf(location.pathname, location.search) });
  const wide = useMedia('(min-width: 64rem)');
  const grouped = groups.map((group) => ({
    label: group,
    entries: navigation.filter((entry) => entry.group === group),
  }));
  const folded = navigation.filter((entry) => entry.group !== undefined || entry.unlisted);
  return (
    <nav
      aria-label="Pages"
      className="flex items-stretch max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-30 max-md:h-14 max-md:border-t max-md:border-line max-md:bg-surface md:h-12 md:min-w-0 xl:gap-1"
    >
      {navigation
        .filter((entry) => entry.group === undefined && !entry.unlisted)
        .map((entry) => (
          <Link
            key={entry.key}
            to={entry.to}
            search={entry.search ?? {}}
            activeOptions={{ exact: true }}
            aria-current={here === entry ? 'page' : undefined}
            className={entryLook}
          >
            <entry.icon aria-hidden />
            {entry.label}
            <Waiting entries={[entry]} />
          </Link>
        ))}
      {(wide ? grouped : [{ label: moreLabel, entries: folded }]).map(({ label, entries }) => {
        const menu = { label, entries, here: entries.find((entry) => entry === here) };
        return (
          <Suspense
            key={label}
            fallback={
              <span className={entryLook}>
                <MenuFace {...menu} />
              </span>
            }
          >
            <PagesMenu {...menu} />
          </Suspense>
        );
      })}
    </nav>
  );
}

/** How long a page has to set its title before a screen reader announces it. */
const titleMs = 400;

/**
 * After a page change, focuses the content, where keys scroll it, and announces the title to screen readers. It does
 * not focus the heading: many pages re-render it when their data arrives, which would lose the focus.
 */
function useArrival(main: RefObject<HTMLElement | null>): string {
  const router = useRouter();
  const [arrived, setArrived] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
      if (!pathChanged || fromLocation === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(() => setArrived(document.title), titleMs);
      // A page that set the focus itself, for example to its first field, keeps it.
      if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [router, main]);
  return arrived;
}

/** Redirects to the login page if nobody is logged in. Failed requests and the socket do the same. */
function useLoginCheck(): void {
  const { data: who } = useQuery(queries.me());
  const over = who !== undefined && !who.authenticated;
  useEffect(() => {
    if (over) leaveAndReturn();
  }, [over]);
}
