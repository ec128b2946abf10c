import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { whenLoggedOut } from '@/api/client';
import { Problem } from '@/api/problem';
import { leaveAndReturn } from '@/app/leave';
import { followTheme } from '@/app/theme';
import { TooltipProvider } from '@/ui/overlay';
import { createAppRouter } from './router';
import './styles.css';

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

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TooltipProvider delayDuration={300}>
        <RouterProvider router={createAppRouter(queryClient)} />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
