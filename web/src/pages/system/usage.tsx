import { useQuery } from '@tanstack/react-query';
import { ChartColumn } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import * as queries from '@/api/queries';
import type { UsageSummary } from '@/api/types';
import { tokens } from '@/text/format';
import { Answer } from '@/ui/answer';
import { Card, CardBody } from '@/ui/card';
import { Cost } from '@/ui/cost';
import { EmptyState } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { Segmented } from '@/ui/segmented';
import { useSystemSearch } from './address';
import { Breakdown } from './breakdown';
import { DayCharts } from './day-charts';
import { dayCount, daysOf, rangeStart } from './days';
import { type Range, ranges } from './search';

/** The default range, omitted from the address. */
const defaultRange: Range = 30;
const choices = ranges.map((days) => ({ value: String(days), label: `${days} days` }));

export function UsageTab() {
  const { search, change } = useSystemSearch();
  const range = search.days ?? defaultRange;
  const now = useNow(60_000);
  const from = rangeStart(range, now);
  const usage = useQuery({ ...queries.usageSummary(from), placeholderData: (before) => before });
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-3">
        <Segmented
          label="Time range"
          value={String(range)}
          options={choices}
          onChange={(value) => change({ days: ranges.find((days) => days !== defaultRange && String(days) === value) })}
          data-testid="usage-range"
        />
        <span className="text-xs text-ink-soft">Days start at 00:00 UTC.</span>
      </div>
      <Answer query={usage} what="usage" rows={8}>
        {(data) => (data.total.llm_calls === 0 ? <Nothing range={range} /> : <Summary usage={data} />)}
      </Answer>
    </div>
  );
}

function Nothing({ range }: { range: Range }) {
  return (
    <EmptyState title={`No usage in the last ${range} days`} icon={<ChartColumn />}>
      Tokens and cost appear here after an alert is investigated or a note is processed.
    </EmptyState>
  );
}

function Summary({ usage }: { usage: UsageSummary }) {
  // The range of the response: while another range loads, the previous response is still shown.
  const days = useMemo(() => daysOf(usage.by_day, usage.from, dayCount(usage.from, usage.to)), [usage]);
  const total = usage.total.usage;
  return (
    <div className="space-y-4">
      <Card>
        <CardBody>
          <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-6" data-testid="usage-total">
            <Total name="Cost">
              <Cost usage={total} />
            </Total>
            <Total name="Tokens">{tokens(total.total_tokens)}</Total>
            <Total name="Input" note={total.cached_tokens > 0 ? `${tokens(total.cached_tokens)} cached` : undefined}>
              {tokens(total.input_tokens)}
            </Total>
            <Total
              name="Output"
              note={total.thinking_tokens > 0 ? `+${tokens(total.thinking_tokens)} thinking` : undefined}
            >
              {tokens(total.output_tokens)}
            </Total>
            <Total name="LLM calls">{usage.total.llm_calls.toLocaleString()}</Total>
            <Total name="Tool calls">{usage.total.tool_calls.toLocaleString()}</Total>
          </dl>
          {total.unpriced_tokens > 0 && (
            <p className="mt-4 rounded-md bg-warn-soft px-3 py-2" data-testid="usage-unpriced">
              {tokens(total.unpriced_tokens)} tokens used models without a known price, so their cost is not included.
              Set prices under <code className="font-mono text-xs">system.cost_estimation.model_rates</code>.
            </p>
          )}
        </CardBody>
      </Card>
      <DayCharts days={days} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Breakdown
          title="By kind"
          rows={usage.by_kind.map((row) => ({ ...row, name: row.name === 'notes' ? 'Notes' : 'Sessions' }))}
        />
        <Breakdown title="By alert type" rows={usage.by_alert_type} />
        <Breakdown title="By model" rows={usage.by_model} />
        <Breakdown title="By provider" rows={usage.by_provider} />
      </div>
    </div>
  );
}

function Total({ name, note, children }: { name: string; note?: string; children: ReactNode }) {
  return (
    <div className="flex flex-col">
      <dt className="text-xs text-ink-soft">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{children}</dd>
      {note && <dd className="text-xs text-ink-soft tabular-nums">{note}</dd>}
    </div>
  );
}
