import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { SystemPageSearch } from './search';

const route = getRouteApi('/shell/system');

/** What the address says, and how a tab changes its part of it. Typing does not fill the history of the browser. */
export function useSystemSearch() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (part: Partial<SystemPageSearch>) =>
      void navigate({ search: (last) => ({ ...last, ...part }), replace: 'q' in part, resetScroll: false }),
    [navigate],
  );
  return { search, change };
}
