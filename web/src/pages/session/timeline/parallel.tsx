/** Agents that run in parallel: side by side if there is space, otherwise one at a time in tabs. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import { StatusIcon } from '@/ui/status';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/ui/tabs';
import { type FocusRequest, useTimeline } from './context';
import { type Band, laneWidth, narrowList } from './height';
import { Pane } from './pane';
import type { ParallelRow } from './rows';

interface ParallelProps {
  row: ParallelRow;
  index: number;
  position: number;
  size: number;
  width: number;
  bandTop: number;
  bandBottom: number;
  /** A request for a row of one of the lanes, or for the block itself. */
  focusRequest: FocusRequest | undefined;
  lane: number | undefined;
  markedKey: string | undefined;
  measure(node: HTMLElement | null): void;
}

export const ParallelBlock = memo(function ParallelBlock(props: ParallelProps) {
  const { row, index, width, focusRequest, lane, measure } = props;
  const { answer } = useTimeline();
  const element = useRef<HTMLLIElement>(null);
  const attach = useCallback(
    (node: HTMLLIElement | null) => {
      element.current = node;
      measure(node);
    },
    [measure],
  );
  // The arrow keys of the main list reach the block and, from there, its first lane.
  const toBlock = focusRequest?.key === row.key ? focusRequest.token : undefined;
  useEffect(() => {
    if (toBlock === undefined || !answer('block', toBlock)) return;
    element.current?.querySelector<HTMLElement>('[data-stop][tabindex="0"]')?.focus({ preventScroll: true });
  }, [toBlock, answer]);

  const band = { top: props.bandTop, bottom: props.bandBottom };
  const lanes = { row, width, band, focusRequest, lane, markedKey: props.markedKey };
  return (
    <li
      ref={attach}
      aria-setsize={props.size}
      aria-posinset={props.position}
      data-index={index}
      data-testid="parallel-block"
      className="absolute inset-x-0 py-1.5 contain-[layout_style]"
    >
      {width < narrowList ? <LaneTabs {...lanes} /> : <LanesAbreast {...lanes} />}
    </li>
  );
});

interface LanesProps {
  row: ParallelRow;
  width: number;
  band: Band;
  focusRequest: FocusRequest | undefined;
  lane: number | undefined;
  markedKey: string | undefined;
}

function LanesAbreast({ row, width, band, focusRequest, lane, markedKey }: LanesProps) {
  const { answer } = useTimeline();
  const scroller = useRef<HTMLDivElement>(null);
  const count = row.lanes.length;
  const each = laneWidth(width, count);
  const fits = each * count <= width;
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    horizontal: true,
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => each,
    // The key includes the width, so that cached sizes of another width are not used.
    getItemKey: useCallback((at: number) => `${at}:${each}`, [each]),
    overscan: 0,
  });
  const drawn = useOneByOne(count);
  const shown = new Set(
    virtualizer
      .getVirtualItems()
      .slice(0, drawn)
      .map((item) => item.index),
  );

  const token = lane === undefined ? undefined : focusRequest?.token;
  useEffect(() => {
    if (token === undefined || lane === undefined || !answer('lane', token)) return;
    virtualizer.scrollToIndex(lane, { align: 'auto' });
  }, [token, lane, answer, virtualizer]);

  return (
    <div ref={scroller} className={fits ? 'overflow-x-hidden' : 'overflow-x-auto pb-1'}>
      <div className="flex items-stretch" style={{ width: fits ? '100%' : each * count }}>
        {row.lanes.map(({ execution, rows }, at) => (
          <div key={execution.id} className="flex min-w-0 px-1 first:pl-0 last:pr-0" style={{ width: each }}>
            <Pane
              execution={execution}
              rows={rows}
              width={each}
              visible={shown.has(at)}
              band={band}
              focusRequest={at === lane ? focusRequest : undefined}
              markedKey={markedKey}
              className="flex-1"
            />
          </div>
        ))}
      </div>
    </div>
  );
}

/** Counts up to a number, one per frame: rendering all lanes in one frame would be noticeable. */
function useOneByOne(most: number): number {
  const [count, setCount] = useState(1);
  useEffect(() => {
    if (count >= most) return;
    const frame = requestAnimationFrame(() => setCount(count + 1));
    return () => cancelAnimationFrame(frame);
  }, [count, most]);
  return count;
}

function LaneTabs({ row, width, band, focusRequest, lane, markedKey }: LanesProps) {
  const { answer } = useTimeline();
  const [chosen, setChosen] = useState<string>();
  const known = row.lanes.find((each) => each.execution.id === chosen) ?? row.lanes[0];
  const asked = lane === undefined ? undefined : row.lanes[lane]?.execution.id;
  const token = focusRequest?.token;
  useEffect(() => {
    if (token !== undefined && asked !== undefined && answer('lane', token)) setChosen(asked);
  }, [token, asked, answer]);
  const tabs = useRef<HTMLDivElement>(null);
  const shownTab = known?.execution.id;
  // If the tabs do not all fit, scrolls the selected one into view.
  useEffect(() => {
    const tab = shownTab && tabs.current?.querySelector<HTMLElement>('[data-state="active"]');
    if (tab && tabs.current) tabs.current.scrollLeft = tab.offsetLeft - tabs.current.offsetLeft - 32;
  }, [shownTab]);
  if (!known) return null;
  return (
    <Tabs value={known.execution.id} onValueChange={setChosen}>
      <TabsList ref={tabs} aria-label="Agents" className="mb-1.5">
        {row.lanes.map(({ execution }) => (
          <TabsTrigger key={execution.id} value={execution.id}>
            <StatusIcon status={execution.status} />
            {execution.agent_name}
          </TabsTrigger>
        ))}
      </TabsList>
      <TabsContent value={known.execution.id}>
        <Pane
          key={known.execution.id}
          execution={known.execution}
          rows={known.rows}
          width={width}
          visible
          band={band}
          focusRequest={known.execution.id === asked ? focusRequest : undefined}
          markedKey={markedKey}
        />
      </TabsContent>
    </Tabs>
  );
}
