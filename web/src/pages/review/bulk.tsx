/**
 * Selects several items in a list and accepts or rejects them together. Each is decided separately, so some may fail.
 */
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import type { ReviewItem, ReviewResult } from '@/api/types';
import { useScope } from '@/app/scope';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { Continuation } from '@/ui/continuation';
import { ProblemPanel } from '@/ui/feedback';
import { changeOf, titleOf } from './change';
import { useBulk } from './decide';
import { Certainty } from './item';
import { kindLabels } from './words';

interface Report {
  done: number;
  failed: readonly { title: string; message: string }[];
}

export function Bulk({
  items,
  list,
}: {
  items: readonly ReviewItem[];
  list: ComponentProps<typeof Continuation>['found'];
}) {
  const may = useScope('write');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [report, setReport] = useState<Report>();
  const bulk = useBulk();
  const selected = items.filter((item) => chosen.has(item.id));
  const toggle = (id: string, on: boolean) =>
    setChosen(new Set(on ? [...chosen, id] : [...chosen].filter((other) => other !== id)));
  const decide = (decision: 'accept' | 'reject') => {
    setReport(undefined);
    bulk.mutate(
      { decision, items: selected.map(({ id, version }) => ({ id, version })) },
      {
        onSuccess: ({ results }) => {
          setReport(reportOf(results, selected));
          setChosen(new Set());
        },
      },
    );
  };
  const all = selected.length === items.length;
  return (
    <section aria-label="Open items" className="space-y-2">
      <div className="sticky top-0 z-10 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-surface px-4 py-2">
        <label className="flex min-h-8 cursor-pointer items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            ref={(box) => {
              if (box) box.indeterminate = selected.length > 0 && !all;
            }}
            onChange={() => setChosen(new Set(all ? [] : items.map((item) => item.id)))}
            data-testid="bulk-all"
          />
          Select all
        </label>
        <span className="text-ink-soft tabular-nums" role="status">
          {counted(selected.length, 'item')} selected
        </span>
        <span className="ml-auto flex gap-2">
          <Button
            variant="primary"
            disabled={!may || selected.length === 0 || bulk.isPending}
            onClick={() => decide('accept')}
            data-testid="bulk-accept"
          >
            <Check aria-hidden /> Accept
          </Button>
          <Button
            variant="danger"
            disabled={!may || selected.length === 0 || bulk.isPending}
            onClick={() => decide('reject')}
            data-testid="bulk-reject"
          >
            <X aria-hidden /> Reject
          </Button>
        </span>
      </div>
      {bulk.error && <ProblemPanel error={bulk.error} />}
      {report && <BulkReport report={report} />}
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {items.map((item) => (
          <li
            key={item.id}
            className="flex items-start gap-3 px-4 hover:bg-sunken has-checked:bg-accent-soft"
            data-testid="bulk-item"
            data-item-id={item.id}
          >
            <label className="flex min-w-0 flex-1 cursor-pointer items-start gap-3 py-2.5">
              <input
                type="checkbox"
                className="mt-0.5 size-4 shrink-0 accent-accent"
                checked={chosen.has(item.id)}
                onChange={(event) => toggle(item.id, event.target.checked)}
              />
              <span className="min-w-0 flex-1">
                <span className="block font-medium break-words">{titleOf(item)}</span>
                <span className="flex flex-wrap gap-x-3 text-[13px] text-ink-soft">
                  <span>{kindLabels[item.kind]}</span>
                  <Certainty item={item} />
                  <span className="min-w-0 break-words">{lineOf(item)}</span>
                </span>
              </span>
            </label>
            <Link
              to="/review"
              search={{ item: item.id }}
              className="mt-2.5 shrink-0 text-[13px] text-accent underline underline-offset-4"
              aria-label={`Open ${titleOf(item)}`}
            >
              Open
            </Link>
          </li>
        ))}
      </ul>
      <Continuation found={list} shown={items.length} what="items" />
    </section>
  );
}

/** Summarizes the change in one line. */
function lineOf(item: ReviewItem): string {
  if (item.kind === 'entity') return item.entity?.sources[0]?.quote ?? '';
  if (item.kind === 'duplicate') return item.other?.title ?? '';
  return changeOf(item)
    .fields.map((field) => `${field.name}: ${field.after || 'none'}`)
    .join(', ');
}

function reportOf(results: readonly ReviewResult[], items: readonly ReviewItem[]): Report {
  const titles = new Map(items.map((item) => [item.id, titleOf(item)]));
  const failed = results.filter((result) => result.item === null);
  return {
    done: results.length - failed.length,
    failed: failed.map((result) => ({
      title: titles.get(result.item_id) ?? result.item_id,
      message: result.message ?? '',
    })),
  };
}

function BulkReport({ report }: { report: Report }) {
  return (
    <div role="status" className="rounded-lg border border-line bg-surface px-4 py-2" data-testid="bulk-report">
      <p>
        {counted(report.done, 'item')} decided.
        {report.failed.length > 0 && <span className="text-bad"> {counted(report.failed.length, 'item')} failed:</span>}
      </p>
      {report.failed.length > 0 && (
        <ul className="mt-1 list-disc pl-5 text-[13px]">
          {report.failed.map((failure) => (
            <li key={failure.title} className="break-words">
              <span className="font-medium">{failure.title}</span>: {failure.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
