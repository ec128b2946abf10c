/**
 * The live state of a session's alert. It is updated while the session runs and afterwards, outside the session's
 * journal.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { keys } from '@/api/alerts';
import * as queries from '@/api/queries';
import type { AlertState, SessionDetail } from '@/api/types';
import { useSessionFeed } from '@/live/hooks';

/** Returns the state of the alert, or null if the alert has no identity. */
export function useAlertState(session: SessionDetail): AlertState | null {
  const client = useQueryClient();
  const counted = session.alert !== null;
  const detail = queries.session(session.id);
  // The page's store loaded this query under the same key, and its copy of the session is newer than the cached one.
  const { data } = useQuery({ ...detail, enabled: counted, staleTime: Number.POSITIVE_INFINITY });
  useSessionFeed(counted ? session.id : undefined, () => {
    const refetchType = document.hidden ? 'none' : 'active';
    void client.invalidateQueries({ queryKey: detail.queryKey, exact: true, refetchType });
    void client.invalidateQueries({ queryKey: keys.suppressed, refetchType });
  });
  return (data ?? session).alert;
}
