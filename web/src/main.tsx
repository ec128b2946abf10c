import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { whenLoggedOut } from '@/api/client';
import { Problem } from '@/api/problem';
import { leaveAndReturn } from '@/app/leave';
import { followTheme } from '@/app/theme';
import { createAppRouter } from './router';

// Parts that lock the page's scroll add a style of their own, which the Content-Security-Policy allows with this only.
setNonce(document.querySelector('meta[property="csp-nonce"]')?.getAttribute('content') ?? '');

followTheme();
whenLoggedOut(leaveAndReturn);

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the caller got wrong does not get better by asking again, and a query that was too slow stays slow.
      retry: (failures, error) =>
        failures < 3 && (!(error instanceof Problem) || (error.passing && error.code !== 'query_timeout')),
    },
  },
});

/** Puts the page in the place of what was shown first, when it has all that it needs. `takeOver` is called before it is drawn. */
export async function start(takeOver: () => void): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('index.html has no #root');
  const router = createAppRouter(queryClient);
  await router.load();
  takeOver();
  // From here on nothing waits for the font, which is as large as half of the program.
  document.documentElement.dataset.started = '';
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
