/** Requests that decide review items and undo decisions. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, body } from '@/api/client';
import { ifMatch } from '@/api/notes';
import type { ReviewItem } from '@/api/types';
import { invalidate } from '@/live/notes';
import type { changesOf } from '@/pages/board/draft';
import type { Decision } from './words';

export interface Resolution {
  item: Pick<ReviewItem, 'id' | 'version'>;
  decision: Decision;
  reason?: string;
  entity?: ReturnType<typeof changesOf>;
  epic_name?: string;
  epic_description?: string;
  keep_id?: string;
}

/** The topics that a decision may change. */
const touched = new Set(['review', 'notes', 'entities', 'projects', 'tags'] as const);

function useRefresh() {
  const client = useQueryClient();
  return () => invalidate(client, touched);
}

export function useResolve() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ item, ...resolution }: Resolution) =>
      body(
        api.POST('/api/v1/review/{id}/resolve', {
          params: { path: { id: item.id }, header: ifMatch(item.version) },
          body: { ...resolution, reason: resolution.reason?.trim() || undefined },
        }),
      ),
    onSuccess: refresh,
  });
}

export function useUndo() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: string) => body(api.POST('/api/v1/review/{id}/undo', { params: { path: { id } } })),
    onSettled: refresh,
  });
}

export function useBulk() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (bulk: { decision: 'accept' | 'reject'; items: { id: string; version: number }[] }) =>
      body(api.POST('/api/v1/review/bulk', { body: bulk })),
    onSettled: refresh,
  });
}
