import type { Entity } from '@/api/types';
import type { Passage } from '@/text/passages';

/** Returns the passages of a note that its entities came from, except those of rejected or merged entities. */
export function passagesOf(entities: readonly Entity[], noteId: string): Passage[] {
  return entities
    .filter((entity) => entity.state !== 'rejected' && entity.state !== 'merged')
    .flatMap((entity) =>
      entity.sources
        .filter((source) => source.note_id === noteId)
        .map((source) => ({
          id: entity.id,
          quote: source.quote,
          start: source.start_offset,
          end: source.end_offset,
        })),
    );
}
