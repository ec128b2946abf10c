import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { SystemPageSearch } from './search';

const route = getRouteApi('/shell/system');

/**
 * Returns the state in the address, and a function with which a tab changes its part. Typing adds no history entries.
 */
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
