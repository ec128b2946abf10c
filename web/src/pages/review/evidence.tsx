/** The quotes behind an item, highlighted in their note. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ReviewItem } from '@/api/types';
import { passagesOf } from '@/pages/notes/passages';
import { MarkedText } from '@/text/marked-text';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { Ago } from '@/ui/time';

export function Evidence({ item }: { item: ReviewItem }) {
  const { note, entity, other, entities } = item;
  const passages = useMemo(
    () => (note === null ? [] : passagesOf(entity ? [entity] : entities, note.id)),
    [note, entity, entities],
  );
  const quotes = other?.sources.filter((source) => source.note_id !== note?.id) ?? [];
  return (
    <Card aria-labelledby="review-evidence" data-testid="review-evidence">
      <CardHeader>
        <CardTitle id="review-evidence" className="flex-1">
          Evidence
        </CardTitle>
        {note && (
          <Link
            to="/notes/$noteId"
            params={{ noteId: note.id }}
            className="text-[13px] text-accent underline underline-offset-4"
          >
            Open note
          </Link>
        )}
      </CardHeader>
      <CardBody className="space-y-3">
        {note === null ? (
          <p className="text-ink-soft">No note: a person created this.</p>
        ) : (
          <>
            <p className="text-xs text-ink-soft">
              {note.author && `${note.author}, `}
              <Ago at={note.created_at} />
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
            <section className="max-h-[50vh] overflow-y-auto" tabIndex={0} aria-label="Text of the note">
              <MarkedText text={note.content} passages={passages} />
            </section>
          </>
        )}
        {quotes.length > 0 && (
          <div>
            <h3 className="text-xs font-semibold text-ink-soft">Evidence of the other</h3>
            {quotes.map((source) => (
              <blockquote
                key={`${source.note_id} ${source.start_offset}`}
                className="mt-1 border-l-2 border-line-strong pl-3 break-words whitespace-pre-wrap"
              >
                {source.quote}{' '}
                <Link
                  to="/notes/$noteId"
                  params={{ noteId: source.note_id }}
                  className="text-[13px] text-accent underline underline-offset-4"
                >
                  Open note
                </Link>
              </blockquote>
            ))}
          </div>
        )}
      </CardBody>
    </Card>
  );
}
