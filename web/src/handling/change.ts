/** Reads and changes how people handle a session. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, body } from '@/api/client';
import * as queries from '@/api/queries';
import type { Handling, HandlingRequest, SessionDetail } from '@/api/types';
import { useSessionFeed } from '@/live/hooks';
import { unhandled } from './words';

/**
 * Returns the live handling of a session: people change it while the session runs and afterwards, outside its journal.
 */
export function useHandling(session: Pick<SessionDetail, 'id' | 'handling'>): Handling {
  const client = useQueryClient();
  const query = queries.handling(session.id);
  const { data } = useQuery(query);
  useSessionFeed(session.id, () => {
    void client.invalidateQueries({
      queryKey: query.queryKey,
      exact: true,
      refetchType: document.hidden ? 'none' : 'active',
    });
  });
  return data ?? session.handling ?? unhandled(session.id);
}

/** Changes the handling of a session. The server's response is shown immediately. */
export function useHandle(sessionId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: HandlingRequest) =>
      body(api.PATCH('/api/v1/sessions/{id}/handling', { params: { path: { id: sessionId } }, body: change })),
    onSuccess: (handling) => {
      client.setQueryData(queries.handling(sessionId).queryKey, handling);
      void client.invalidateQueries({ queryKey: queries.keys.sessions, refetchType: 'none' });
    },
  });
}

export type Handle = ReturnType<typeof useHandle>;
