/** Keeps the list up to date. The feed reports that something changed, but not what, so the list is requested again. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { keys as suppressedKeys } from '@/api/alerts';
import * as queries from '@/api/queries';
import { useSessionsFeed } from '@/live/hooks';

/** At most one refresh per second for each loaded page: refreshing a long list takes a request per page. */
const perPageMs = 1000;

export function useLiveList(pages: number): void {
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const lastAt = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);

  const refresh = useCallback(() => {
    timer.current = undefined;
    lastAt.current = performance.now();
    // A hidden tab only marks the lists as stale and reloads them when it becomes visible.
    const refetchType = document.hidden ? 'none' : 'active';
    for (const part of ['list', 'active']) {
      void queryClient.invalidateQueries(
        { queryKey: [...queries.keys.sessions, part], refetchType },
        { cancelRefetch: false },
      );
    }
    // The members of an expanded storm.
    void queryClient.invalidateQueries({ queryKey: suppressedKeys.suppressed, refetchType }, { cancelRefetch: false });
  }, [queryClient]);

  useSessionsFeed(
    useCallback(() => {
      if (timer.current !== undefined) return;
      const wait = lastAt.current + (pages - 1) * perPageMs - performance.now();
      if (wait <= 0) refresh();
      else timer.current = setTimeout(refresh, wait);
    }, [pages, refresh]),
  );
}
