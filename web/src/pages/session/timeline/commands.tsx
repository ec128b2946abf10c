/** Palette commands for the timeline: its sections, and expanding or collapsing everything. */
import { ArrowDown, ArrowUp, ChevronsDownUp, ChevronsUpDown, Layers } from 'lucide-react';
import { usePageCommands } from '@/app/commands';
import type { SessionView, StageView } from '@/live/view';
import type { Folding } from './folding';
import { eventsOf, type Row } from './rows';

interface TimelineHandle {
  view: SessionView;
  rows: readonly Row[];
  folding: Folding;
  /** The scroll offset of the list, and the start of a row. */
  offset(): number;
  startOf(index: number): number;
  show(index: number): void;
  jump(): void;
}

export function useTimelineCommands({ view, rows, folding, offset, startOf, show, jump }: TimelineHandle): void {
  // The header above the stages is a section too. Computed on demand, because there may be thousands of rows.
  const sections = () =>
    rows.flatMap((row, index) =>
      row.kind === 'stage' || row.kind === 'header' ? [{ index, at: startOf(index) }] : [],
    );
  const foldAll = (open: boolean) => folding.chooseAll(view.stages.flatMap(eventsOf), open);
  const next = () => {
    const section = sections().find(({ at }) => at > offset() + 1);
    if (section === undefined) jump();
    else show(section.index);
  };
  const previous = () => {
    const section = sections().findLast(({ at }) => at < offset() - 1);
    if (section !== undefined) show(section.index);
  };
  usePageCommands(
    view.stages.length === 0
      ? []
      : [
          {
            id: 'expand',
            label: 'Expand all of the timeline',
            icon: <ChevronsUpDown aria-hidden />,
            run: () => foldAll(true),
          },
          {
            id: 'collapse',
            label: 'Collapse all of the timeline',
            icon: <ChevronsDownUp aria-hidden />,
            run: () => foldAll(false),
          },
          { id: 'next', label: 'Next section', icon: <ArrowDown aria-hidden />, run: next },
          { id: 'previous', label: 'Previous section', icon: <ArrowUp aria-hidden />, run: previous },
          ...view.stages.map((stage) => ({
            id: `stage ${stage.stage.id}`,
            label: stageName(stage),
            icon: <Layers aria-hidden />,
            run: () => show(rows.findIndex((row) => row.kind === 'stage' && row.stage.stage.id === stage.stage.id)),
          })),
          { id: 'latest', label: 'Go to the end of the timeline', icon: <ArrowDown aria-hidden />, run: jump },
        ],
  );
}

function stageName({ stage }: StageView): string {
  return `Go to stage ${stage.stage_index}: ${stage.stage_type === 'chat' ? 'Question and answer' : stage.stage_name}`;
}
