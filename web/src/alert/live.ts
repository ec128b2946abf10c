/** What became of a session's alert, kept up to date: it is counted while the session runs and after, outside its journal. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { keys } from '@/api/alerts';
import * as queries from '@/api/queries';
import type { AlertState, SessionDetail } from '@/api/types';
import { useSessionFeed } from '@/live/hooks';

/** The state of the alert; null if the alert has no identity. */
export function useAlertState(session: SessionDetail): AlertState | null {
  const client = useQueryClient();
  const counted = session.alert !== null;
  const detail = queries.session(session.id);
  // The page's store has loaded it under the same key; what it holds of the session itself is newer than this.
  const { data } = useQuery({ ...detail, enabled: counted, staleTime: Number.POSITIVE_INFINITY });
  useSessionFeed(counted ? session.id : undefined, () => {
    const refetchType = document.hidden ? 'none' : 'active';
    void client.invalidateQueries({ queryKey: detail.queryKey, exact: true, refetchType });
    void client.invalidateQueries({ queryKey: keys.suppressed, refetchType });
  });
  return (data ?? session).alert;
}
