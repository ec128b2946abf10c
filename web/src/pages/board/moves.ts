/** The cards from the server, with unconfirmed moves applied on top. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, body } from '@/api/client';
import * as notes from '@/api/notes';
import type { Entity } from '@/api/types';
import { type ColumnName, columns, type Layout, type Move, moved, placeOf, requestOf } from './order';

export type Found = ReturnType<typeof useColumn>;

function useColumn(name: ColumnName, filter: notes.EntityFilter) {
  return useInfiniteQuery(notes.column(name, filter));
}

/** A move of a card, and when the server confirmed it. */
interface Pending {
  move: Move;
  entity: Entity;
  settledAt?: number;
}

export interface Board {
  layout: Layout;
  cards: ReadonlyMap<string, Entity>;
  found: Readonly<Record<ColumnName, Found>>;
  move: (move: Move) => void;
  error: Error | null;
  dismiss: () => void;
}

export function useBoard(filter: notes.EntityFilter): Board {
  const client = useQueryClient();
  const found = {
    open: useColumn('open', filter),
    in_progress: useColumn('in_progress', filter),
    done: useColumn('done', filter),
    dropped: useColumn('dropped', filter),
  };
  const [pending, setPending] = useState<readonly Pending[]>([]);
  const rows = (name: ColumnName) => found[name].data?.pages.flatMap((page) => page.entities) ?? [];
  const cards = new Map(columns.flatMap((name) => rows(name).map((entity) => [entity.id, entity] as const)));
  // A card that moved while the pages were loaded may be in two columns: the first one wins.
  const seen = new Set<string>();
  const stored = Object.fromEntries(
    columns.map((name) => [
      name,
      rows(name)
        .map((entity) => entity.id)
        .filter((id) => !seen.has(id) && seen.add(id)),
    ]),
  ) as Record<ColumnName, string[]>;
  // A move is applied until every column has been reloaded after the server confirmed it. Each column is a separate
  // response: between two of them the card may be in neither, and it must not disappear or jump back.
  const isLoaded = ({ settledAt }: Pending) =>
    settledAt !== undefined && columns.every((name) => found[name].dataUpdatedAt > settledAt);
  const active = pending.filter((one) => !isLoaded(one));
  for (const { move, entity } of active) {
    if (!cards.has(move.id)) stored[move.column].push(move.id);
    cards.set(move.id, cards.get(move.id) ?? entity);
  }
  const layout = active.reduce<Layout>((before, one) => moved(before, one.move), stored);

  const sending = useMutation({
    // One at a time: each move is relative to the result of the previous one.
    scope: { id: 'board-moves' },
    mutationFn: ({ move, request }: { move: Move; request: ReturnType<typeof requestOf> }) =>
      body(api.POST('/api/v1/entities/{id}/move', { params: { path: { id: move.id } }, body: request })),
    onSuccess: (_, { move }) =>
      setPending((before) => before.map((one) => (one.move === move ? { ...one, settledAt: Date.now() } : one))),
    onError: (_, { move }) => setPending((before) => before.filter((one) => one.move !== move)),
    onSettled: () => void client.invalidateQueries({ queryKey: [...notes.keys.entities, 'column'] }),
  });
  const move = (next: Move) => {
    const from = placeOf(layout, next.id);
    if (from === undefined || (from.column === next.column && from.index === next.index)) return;
    const entity = cards.get(next.id);
    if (entity === undefined) return;
    const request = requestOf(layout, next);
    setPending((before) => [...before.filter((one) => !isLoaded(one)), { move: next, entity }]);
    sending.mutate({ move: next, request });
  };
  return { layout, cards, found, move, error: sending.error, dismiss: sending.reset };
}
