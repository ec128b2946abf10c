/**
 * The result of a tool, wherever it is shown: numbered lines with their levels, head and tail of a long result, the
 * lines that a claim is about, a search, and metrics as a chart. All of it is untrusted and rendered as text.
 */
import { ChevronDown, ChevronUp, Scissors, WrapText } from 'lucide-react';
import { lazy, Suspense, useDeferredValue, useMemo, useState } from 'react';
import { bytes, counted, tokens } from '@/text/format';
import { payloadOf } from '@/text/payload';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { Skeleton } from '@/ui/feedback';
import { Segmented } from '@/ui/segmented';
import { Stored, useStored } from '@/ui/stored';
import { type Cut, cutsOf } from './cut';
import { findIn, noMatches } from './find';
import { mostRows, type ResultRow, rowsOfText } from './lines';
import { relevantLines } from './relevant';
import { ResultRows } from './result-rows';
import { ResultSearch } from './search';
import { seriesOf } from './series';

const SeriesChart = lazy(() => import('./series-chart').then((module) => ({ default: module.SeriesChart })));

const wrapping = new Stored<'on' | 'off'>('tarsy.wrap', ['on', 'off']);

/** Shorter results are readable at a glance and need no tools. */
const needsTools = 6;

interface ResultViewProps {
  text: string;
  label?: string;
  /** A statement about the result; the lines that it is about are highlighted. */
  claim?: string;
  /** Whether the result takes its full height because an ancestor scrolls (and has data-scroller). */
  flow?: boolean;
}

export function ResultView({ text, label = 'Result', claim, flow = false }: ResultViewProps) {
  const rows = useMemo(() => rowsOfText(payloadOf(text).text), [text]);
  const set = useMemo(() => seriesOf(text), [text]);
  const [view, setView] = useState<'chart' | 'text'>('chart');
  const drawn = set !== undefined && view === 'chart';
  const cuts = useMemo(() => cutsOf(rows), [rows]);
  const lines = useLines(rows, claim);
  const wrap = useStored(wrapping) === 'on';
  if (text === '') return <p className="text-ink-faint">The tool returned nothing.</p>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div role="group" aria-label={label} className="min-w-0" data-testid="result">
      <div
        className={cn(
          'flex min-h-8 flex-wrap items-center gap-x-2 py-0.5',
          flow && 'sticky -top-4 z-10 bg-surface py-1',
        )}
      >
        <span className="text-xs font-medium text-ink-soft">{label}</span>
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
        {cuts.map((cut) => (
          <CutBadge key={cut.unit} cut={cut} />
        ))}
        {set && (
          <Segmented
            label="Show as"
            value={view}
            onChange={setView}
            options={[
              { value: 'chart', label: 'Chart' },
              { value: 'text', label: 'Text' },
            ]}
            className="h-8"
          />
        )}
        {!drawn && claim !== undefined && (
          <ClaimMatches marked={lines.marked.length} total={rows.at(-1)?.line ?? 0} step={lines.stepMarked} />
        )}
        {!drawn && (rows.length >= needsTools || (rows[0]?.text.length ?? 0) > 500) && (
          <span
            className={cn(
              'ml-auto flex min-w-0 items-center justify-end',
              lines.typed !== undefined && 'flex-[1_1_18rem]',
            )}
          >
            <Button
              variant="ghost"
              size="icon"
              aria-label="Wrap lines"
              title="Wrap lines"
              aria-pressed={wrap}
              className={cn(wrap && 'bg-idle-soft text-ink')}
              onClick={() => wrapping.set(wrap ? 'off' : 'on')}
            >
              <WrapText aria-hidden />
            </Button>
            <ResultSearch
              typed={lines.typed}
              onType={lines.type}
              matches={lines.matches}
              current={lines.current}
              onStep={lines.stepMatch}
            />
          </span>
        )}
      </div>
      {drawn ? (
        <Suspense fallback={<Skeleton className="h-[200px]" />}>
          <SeriesChart set={set} />
        </Suspense>
      ) : (
        <ResultRows rows={rows} wrap={wrap} flow={flow} label={label} {...lines} />
      )}
      {!drawn && lines.all && rows.length > mostRows && (
        <p className="mt-1 text-xs text-ink-soft">
          The result is too long to show all of its lines. Use the search, or copy it to read them all.
        </p>
      )}
    </div>
  );
}

/** The highlighted lines, the search, and the position of the reader. */
function useLines(rows: readonly ResultRow[], claim: string | undefined) {
  const marked = useMemo(
    () =>
      claim === undefined
        ? []
        : relevantLines(
            rows.map((row) => row.text),
            claim,
          ),
    [rows, claim],
  );
  const [all, setAll] = useState(false);
  const [typed, setTyped] = useState<string>();
  const wanted = useDeferredValue(typed);
  const matches = useMemo(() => (wanted === undefined ? noMatches : findIn(rows, wanted)), [rows, wanted]);
  const [current, setCurrent] = useState(0);
  const [markedAt, setMarkedAt] = useState(0);
  const around = (at: number, by: number, count: number) => (count === 0 ? 0 : (at + by + count) % count);
  const found = matches.list[current]?.row;
  return {
    marked,
    all,
    showAll: () => setAll(true),
    typed,
    type: (text: string | undefined) => {
      setTyped(text);
      setCurrent(0);
    },
    matches,
    current,
    stepMatch: (by: number) => setCurrent((at) => around(at, by, matches.list.length)),
    stepMarked: (by: number) => setMarkedAt((at) => around(at, by, marked.length)),
    target: found ?? marked[markedAt],
  };
}

function CutBadge({ cut }: { cut: Cut }) {
  const size = cut.unit === 'bytes' ? bytes : (count: number) => tokens(count);
  const unit = cut.unit === 'bytes' ? '' : ' tokens';
  return (
    <Badge
      tone="warn"
      icon={Scissors}
      data-testid="result-cut"
      title="The server kept only a part of this result. The model may have seen more or less of it."
    >
      cut: {size(cut.missing)} of {size(cut.whole)}
      {unit} missing
    </Badge>
  );
}

function ClaimMatches({ marked, total, step }: { marked: number; total: number; step: (by: number) => void }) {
  return (
    <>
      <span className="text-xs text-ink-soft" role="status" data-testid="evidence-matches">
        {marked > 0
          ? `${counted(marked, 'line')} of ${total.toLocaleString()} ${marked === 1 ? 'matches' : 'match'} the claim`
          : 'No line stands out for this claim.'}
      </span>
      {marked > 1 && (
        <span className="flex">
          <Button variant="ghost" size="icon" aria-label="Previous match" onClick={() => step(-1)}>
            <ChevronUp aria-hidden />
          </Button>
          <Button variant="ghost" size="icon" aria-label="Next match" onClick={() => step(1)}>
            <ChevronDown aria-hidden />
          </Button>
        </span>
      )}
    </>
  );
}
