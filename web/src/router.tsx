/** The routes of the dashboard. Each page is loaded on its first visit, and its state is in its address. */
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import * as queries from '@/api/queries';
import { parseSearch, stringifySearch } from '@/app/address';
import { explainMissing } from '@/app/failure';
import { NotFound, PagePending, PageProblem } from '@/app/fallback';
import { Shell } from '@/app/shell';
import { readAlertsSearch } from '@/pages/alerts/search';
import { readApprovalsSearch } from '@/pages/approvals/search';
import { readAuditSearch } from '@/pages/audit/search';
import { readBoardSearch } from '@/pages/board/search';
import { safeNext } from '@/pages/login/next';
import { readNotesSearch } from '@/pages/notes/search';
import { readQualitySearch } from '@/pages/quality/search';
import { readReviewSearch } from '@/pages/review/search';
import { readSessionSearch } from '@/pages/sessions/search';
import { readSystemSearch } from '@/pages/system/search';
import { readTraceSearch } from '@/pages/trace/search';
import { loadMarkdown } from '@/text/markdown';

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  notFoundComponent: NotFound,
  errorComponent: PageProblem,
});

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (search): { next?: string; error?: string } => ({
    next: safeNext(search.next, globalThis.location.origin),
    error: typeof search.error === 'string' ? search.error : undefined,
  }),
  beforeLoad: async ({ context, search }) => {
    const who = await context.queryClient.ensureQueryData(queries.me());
    if (who.authenticated) throw redirect({ href: search.next ?? '/' });
  },
  component: lazyRouteComponent(() => import('@/pages/login/page').catch(explainMissing), 'LoginPage'),
});

/** A shared session, for readers without a login. Its secret is in the fragment of the address. */
const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared',
  component: lazyRouteComponent(() => import('@/pages/shared/page').catch(explainMissing), 'SharedPage'),
});

/** The pages behind the login. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ context, location }) => {
    const who = await context.queryClient.ensureQueryData(queries.me());
    if (!who.authenticated) throw redirect({ to: '/login', search: { next: location.href } });
  },
  component: Shell,
});

const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: readSessionSearch,
  component: lazyRouteComponent(() => import('@/pages/sessions/page').catch(explainMissing), 'SessionsPage'),
});

/**
 * `event` opens and shows that event: the deep link of a timeline row. `call` shows a tool call by its number, next to
 * the claim that cites it. `chat` opens the chat on a narrow screen.
 */
interface SessionPageSearch {
  event?: string;
  call?: string;
  chat?: boolean;
}

/**
 * The server's first response takes this long, in milliseconds, on a connection where the Markdown renderer takes
 * seconds.
 */
const slowAnswer = 300;

/**
 * Loads a page together with the Markdown renderer, so that texts do not change under the reader; on a slow connection,
 * without.
 */
async function withMarkdown<T>(page: Promise<T>): Promise<T> {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const slow = navigation !== undefined && navigation.responseStart - navigation.requestStart > slowAnswer;
  if (!slow) await loadMarkdown();
  return page;
}

const sessionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sessions/$sessionId',
  validateSearch: (search): SessionPageSearch => ({
    event: typeof search.event === 'string' ? search.event : undefined,
    call: typeof search.call === 'string' ? search.call : undefined,
    chat: search.chat === true || search.chat === 'true' || undefined,
  }),
  component: lazyRouteComponent(
    () => withMarkdown(import('@/pages/session/page')).catch(explainMissing),
    'SessionPage',
  ),
});

const traceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sessions/$sessionId/trace',
  validateSearch: readTraceSearch,
  component: lazyRouteComponent(() => import('@/pages/trace/page').catch(explainMissing), 'TracePage'),
});

/** `from` is the id of a session whose alert fills the form. */
const submitRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/submit',
  validateSearch: (search): { from?: string } => ({ from: typeof search.from === 'string' ? search.from : undefined }),
  component: lazyRouteComponent(() => import('@/pages/submit/page').catch(explainMissing), 'SubmitPage'),
});

const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts',
  validateSearch: readAlertsSearch,
  component: lazyRouteComponent(() => import('@/pages/alerts/page').catch(explainMissing), 'AlertsPage'),
});

const approvalsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/approvals',
  validateSearch: readApprovalsSearch,
  component: lazyRouteComponent(() => import('@/pages/approvals/page').catch(explainMissing), 'ApprovalsPage'),
});

const notesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/notes',
  validateSearch: readNotesSearch,
  component: lazyRouteComponent(() => import('@/pages/notes/page').catch(explainMissing), 'NotesPage'),
});

const noteRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/notes/$noteId',
  component: lazyRouteComponent(() => import('@/pages/notes/note').catch(explainMissing), 'NotePage'),
});

const reviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/review',
  validateSearch: readReviewSearch,
  component: lazyRouteComponent(() => import('@/pages/review/page').catch(explainMissing), 'ReviewPage'),
});

const boardRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/board',
  validateSearch: readBoardSearch,
  component: lazyRouteComponent(() => import('@/pages/board/page').catch(explainMissing), 'BoardPage'),
});

const qualityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/quality',
  validateSearch: readQualitySearch,
  component: lazyRouteComponent(() => import('@/pages/quality/page').catch(explainMissing), 'QualityPage'),
});

const systemRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/system',
  validateSearch: readSystemSearch,
  component: lazyRouteComponent(() => import('@/pages/system/page').catch(explainMissing), 'SystemPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/system/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('@/pages/audit/page').catch(explainMissing), 'AuditPage'),
});

/** Unknown addresses. The page is inside the shell, so that the navigation stays. */
const notFoundRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound });

const routeTree = rootRoute.addChildren([
  loginRoute,
  sharedRoute,
  shellRoute.addChildren([
    sessionsRoute,
    sessionRoute,
    traceRoute,
    alertsRoute,
    approvalsRoute,
    notesRoute,
    noteRoute,
    reviewRoute,
    boardRoute,
    submitRoute,
    qualityRoute,
    systemRoute,
    auditRoute,
    notFoundRoute,
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: PagePending,
    defaultErrorComponent: PageProblem,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
