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

// Components that lock the page's scrolling add a style element, which the Content-Security-Policy allows only with
// this nonce.
setNonce(document.querySelector('meta[property="csp-nonce"]')?.getAttribute('content') ?? '');

followTheme();
whenLoggedOut(leaveAndReturn);

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Retrying does not help against a mistake in the request, and a query that timed out stays slow.
      retry: (failures, error) =>
        failures < 3 && (!(error instanceof Problem) || (error.retryable && error.code !== 'query_timeout')),
    },
  },
});

/** Replaces the first view with the app once its data is loaded. Calls `takeOver` before rendering. */
export async function start(takeOver: () => void): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('index.html has no #root');
  const router = createAppRouter(queryClient);
  await router.load();
  takeOver();
  // Enables the web font only now: it is half the size of the app's code and would compete with it for the connection.
  document.documentElement.dataset.started = '';
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
