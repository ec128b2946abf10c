/** Keeps the list up to date. The feed says that something changed, not what: the list is asked for again. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { keys as suppressedKeys } from '@/api/alerts';
import * as queries from '@/api/queries';
import { useSessionsFeed } from '@/live/hooks';

/** At most one refresh a second for each loaded page: the whole of a long list costs a request a page. */
const perPageMs = 1000;

export function useLiveList(pages: number): void {
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const lastAt = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);

  const refresh = useCallback(() => {
    timer.current = undefined;
    lastAt.current = performance.now();
    // In a hidden tab it is only noted that they are old; they are asked for when somebody looks.
    const refetchType = document.hidden ? 'none' : 'active';
    for (const part of ['list', 'active']) {
      void queryClient.invalidateQueries(
        { queryKey: [...queries.keys.sessions, part], refetchType },
        { cancelRefetch: false },
      );
    }
    // Members of a storm that is unfolded.
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
