/** The Review page: a person decides what the model was unsure about, one item at a time or several together. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CircleCheckBig, ListChecks, SquareStack } from 'lucide-react';
import { useState } from 'react';
import * as notes from '@/api/notes';
import type { ReviewItem } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { pages } from '@/app/navigation';
import { ReadOnlyNotice } from '@/app/scope';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { Button } from '@/ui/button';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { Segmented } from '@/ui/segmented';
import { Bulk } from './bulk';
import { titleOf } from './change';
import { useUndo } from './decide';
import { Item } from './item';
import { afterDecision, stepped } from './queue';
import { Recent } from './recent';
import { kinds, type ReviewPageSearch } from './search';
import { type Decided, DecisionToast } from './toast';
import { type Decision, kindLabels } from './words';

const route = getRouteApi('/shell/review');

export function ReviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const change = (part: Partial<ReviewPageSearch>, replace = false) =>
    void navigate({ search: (last) => ({ ...last, ...part }), replace, resetScroll: false });
  const list = useInfiniteQuery(notes.openReviews({ kind: search.kind }));
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<Decided>();
  const undo = useUndo();
  const [undone, setUndone] = useState(0);
  // Hides decided items immediately; the list follows.
  const items = (list.data?.pages.flatMap((page) => page.items) ?? []).filter((item) => !decided.has(item.id));
  const ids = items.map((item) => item.id);
  const current = search.item ?? ids[0];
  const total = Math.max(list.data?.pages[0]?.open_count ?? 0, ids.length);
  useTitle(total > 0 ? `(${total}) ${pages.review.label}` : pages.review.label);

  const forget = (id: string) => client.removeQueries({ queryKey: notes.reviewItem(id).queryKey });
  const onDecided = (item: ReviewItem, decision: Decision) => {
    setDecided((before) => new Set(before).add(item.id));
    setLast({ id: item.id, title: titleOf(item), decision });
    change({ item: afterDecision(ids, item.id) }, true);
    forget(item.id);
    if (ids.length < 5 && list.hasNextPage) void list.fetchNextPage();
  };
  const onUndo = (id: string) =>
    undo.mutate(id, {
      onSuccess: (item) => {
        forget(id);
        // The list may still have the version before the decision, which the server would refuse.
        client.setQueryData(notes.reviewItem(id).queryKey, item);
        setUndone((count) => count + 1);
        setDecided((before) => new Set([...before].filter((other) => other !== id)));
        setLast(undefined);
        change({ item: id, mode: undefined });
      },
    });
  const step = (by: 1 | -1) => change({ item: stepped(ids, current, by) }, true);
  const bulk = search.mode === 'bulk';
  useShortcuts([
    ...(bulk
      ? []
      : [
          { keys: 'j', label: 'Next item', group: 'Review', repeat: true, run: () => step(1) },
          { keys: 'k', label: 'Previous item', group: 'Review', repeat: true, run: () => step(-1) },
        ]),
    ...(last ? [{ keys: 'u', label: 'Undo the last decision', group: 'Review', run: () => onUndo(last.id) }] : []),
  ]);
  usePageCommands([
    {
      id: 'mode',
      label: bulk ? 'Review one item at a time' : 'Review several items at once',
      keywords: ['bulk'],
      icon: bulk ? <SquareStack aria-hidden /> : <ListChecks aria-hidden />,
      run: () => change({ mode: bulk ? undefined : 'bulk', item: undefined }),
    },
    ...(last ? [{ id: 'undo', label: 'Undo the last decision', run: () => onUndo(last.id) }] : []),
  ]);
  const at = current === undefined ? -1 : ids.indexOf(current);

  return (
    <div className="mx-auto w-full max-w-[100rem] space-y-3 p-3 pb-20 sm:p-4 sm:pb-20">
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="text-lg font-semibold">{pages.review.label}</h1>
        {list.data && (
          <p className="text-ink-soft tabular-nums" data-testid="review-position">
            {bulk || at < 0 ? `${total} open` : `${at + 1} of ${search.kind ? ids.length : total} open`}
          </p>
        )}
        <div className="ml-auto flex flex-wrap items-center gap-2">
          <Select
            className="w-auto"
            aria-label="Kind"
            value={search.kind ?? ''}
            onChange={(event) => change({ kind: kinds.find((kind) => kind === event.target.value), item: undefined })}
            data-testid="review-kind"
          >
            <option value="">Any kind</option>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kindLabels[kind]}
              </option>
            ))}
          </Select>
          <Segmented
            label="Mode"
            value={bulk ? 'bulk' : 'one'}
            options={[
              { value: 'one', label: 'One at a time' },
              { value: 'bulk', label: 'Several' },
            ]}
            onChange={(mode) => change({ mode: mode === 'bulk' ? 'bulk' : undefined, item: undefined })}
            data-testid="review-mode"
            data-palette="none"
          />
        </div>
      </div>
      <ReadOnlyNotice />
      {list.isPending ? (
        <Loading what="review items" rows={6} />
      ) : list.data === undefined ? (
        <ProblemPanel error={list.error} retry={() => void list.refetch()} />
      ) : bulk ? (
        items.length === 0 ? (
          <NothingToReview filtered={search.kind !== undefined} clear={() => change({ kind: undefined })} />
        ) : (
          <Bulk items={items} list={list} />
        )
      ) : current === undefined ? (
        <NothingToReview filtered={search.kind !== undefined} clear={() => change({ kind: undefined })} />
      ) : (
        <Item
          key={`${current} ${undone}`}
          id={current}
          listed={items.find((item) => item.id === current)}
          onDecided={onDecided}
          onUndo={() => onUndo(current)}
          onNext={ids.length > 1 || at < 0 ? () => step(1) : undefined}
          onPrevious={at > 0 ? () => step(-1) : undefined}
        />
      )}
      <Recent onUndo={onUndo} pending={undo.isPending ? undo.variables : undefined} />
      <DecisionToast
        decided={last}
        pending={undo.isPending}
        error={undo.error}
        onUndo={onUndo}
        onClose={() => {
          setLast(undefined);
          undo.reset();
        }}
      />
    </div>
  );
}

function NothingToReview({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered) {
    return (
      <EmptyState title={<h2>No open items of this kind</h2>} icon={<CircleCheckBig aria-hidden />}>
        <Button onClick={clear}>Show every kind</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={<h2>Nothing to review</h2>} icon={<CircleCheckBig aria-hidden />}>
      <p>
        When the model is not sure about what it found in a note, where it belongs, or whether it is a duplicate, the
        decision appears here. Capture{' '}
        <Link to="/notes" className="text-accent underline underline-offset-4">
          a note
        </Link>{' '}
        or open the{' '}
        <Link to="/board" className="text-accent underline underline-offset-4">
          board
        </Link>
        .
      </p>
    </EmptyState>
  );
}
