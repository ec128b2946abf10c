/** Dragging cards with a pointer, using native drag and drop. The keyboard and a card's menu do the same. */
import { type DragEvent, useState } from 'react';
import type { ColumnName, Move, Place } from './order';

const format = 'application/x-tarsy-entity';

/**
 * Returns where a card would be dropped: before the first card whose middle is below the pointer, not counting the
 * dragged card.
 */
export function dropIndex(middles: readonly number[], y: number): number {
  const at = middles.findIndex((middle) => y < middle);
  return at < 0 ? middles.length : at;
}

export function useDrag(move: (move: Move) => void) {
  const [dragged, setDragged] = useState<string>();
  const [over, setOver] = useState<Place>();
  const placeAt = (event: DragEvent<HTMLElement>, column: ColumnName): Place => {
    const cards = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-card]')];
    const middles = cards
      .filter((card) => card.dataset.card !== dragged)
      .map((card) => {
        const { top, height } = card.getBoundingClientRect();
        return top + height / 2;
      });
    return { column, index: dropIndex(middles, event.clientY) };
  };
  const end = () => {
    setDragged(undefined);
    setOver(undefined);
  };
  return {
    dragged,
    over,
    card: (id: string) => ({
      draggable: true,
      onDragStart: (event: DragEvent<HTMLElement>) => {
        event.dataTransfer.setData(format, id);
        event.dataTransfer.effectAllowed = 'move';
        setDragged(id);
      },
      onDragEnd: end,
    }),
    column: (column: ColumnName) => ({
      onDragOver: (event: DragEvent<HTMLElement>) => {
        if (!event.dataTransfer.types.includes(format)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'move';
        const place = placeAt(event, column);
        if (place.column !== over?.column || place.index !== over.index) setOver(place);
      },
      onDragLeave: (event: DragEvent<HTMLElement>) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)))
          setOver(undefined);
      },
      onDrop: (event: DragEvent<HTMLElement>) => {
        const id = event.dataTransfer.getData(format);
        if (id === '') return;
        event.preventDefault();
        move({ id, ...placeAt(event, column) });
        end();
      },
    }),
  };
}

export type Drag = ReturnType<typeof useDrag>;
