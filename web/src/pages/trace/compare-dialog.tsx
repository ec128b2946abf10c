/** Asks for the session to compare with: the original, a re-run, a similar session, or any by its id or link. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { SessionDetail, SimilarSession } from '@/api/types';
import { sessionIdIn } from '@/app/sessionid';
import { shortId } from '@/text/format';
import { plainText } from '@/text/plain';
import { Button } from '@/ui/button';
import { Input } from '@/ui/input';
import { SessionIcon } from '@/ui/outcome';
import { Dialog, DialogContent } from '@/ui/overlay';
import { Ago } from '@/ui/time';

export function CompareDialog({
  sessionId,
  session,
  onClose,
  onChoose,
}: {
  sessionId: string;
  /** Undefined until loaded. */
  session: SessionDetail | undefined;
  onClose: () => void;
  onChoose: (id: string) => void;
}) {
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState('');
  const field = useId();
  const related = session === undefined ? [] : relatedTo(session);
  const similar = (useQuery(queries.similarSessions(sessionId)).data?.sessions ?? []).filter(
    ({ id }) => !related.some((other) => other.id === id),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const id = sessionIdIn(typed);
    if (id === '') setWrong('Enter the id of a session or the address of its page.');
    else if (id === sessionId) setWrong('This is the same session. Choose another one.');
    else onChoose(id);
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()}>
      <DialogContent title="Compare with another session">
        <form onSubmit={submit} className="space-y-2">
          <label htmlFor={field} className="block text-[13px] text-ink-soft">
            Session id or link
          </label>
          <div className="flex flex-wrap gap-2">
            <Input
              id={field}
              className="min-w-0 flex-1 basis-64"
              value={typed}
              aria-invalid={wrong !== '' || undefined}
              aria-describedby={wrong === '' ? undefined : `${field}-wrong`}
              onChange={(event) => {
                setTyped(event.target.value);
                setWrong('');
              }}
              data-testid="compare-id"
            />
            <Button type="submit" variant="primary">
              Compare
            </Button>
          </div>
          {wrong && (
            <p id={`${field}-wrong`} role="alert" className="text-bad">
              {wrong}
            </p>
          )}
        </form>
        {related.length > 0 && (
          <Choices title="Original and re-runs">
            {related.map(({ id, name }) => (
              <Choice key={id} onChoose={() => onChoose(id)}>
                <span className="min-w-0 flex-1 truncate">
                  {name} <span className="font-mono text-xs text-ink-soft">{shortId(id)}</span>
                </span>
              </Choice>
            ))}
          </Choices>
        )}
        {similar.length > 0 && (
          <Choices title="Similar sessions">
            {similar.map((past) => (
              <Choice key={past.id} onChoose={() => onChoose(past.id)}>
                <SessionIcon session={past} />
                <span className="min-w-0 flex-1 truncate">{nameOf(past)}</span>
                <Ago at={past.created_at} className="shrink-0 text-xs text-ink-soft" />
              </Choice>
            ))}
          </Choices>
        )}
      </DialogContent>
    </Dialog>
  );
}

function Choices({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-4" aria-label={title}>
      <h3 className="mb-1 text-xs font-semibold text-ink-soft">{title}</h3>
      <ul>{children}</ul>
    </section>
  );
}

function Choice({ onChoose, children }: { onChoose: () => void; children: ReactNode }) {
  return (
    <li>
      <button
        type="button"
        className="flex min-h-9 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-sunken pointer-coarse:min-h-11"
        onClick={onChoose}
      >
        {children}
      </button>
    </li>
  );
}

/** Returns the original and the re-runs of a session, latest first. */
function relatedTo({ rerun_of, reruns }: SessionDetail): { id: string; name: string }[] {
  return [
    ...(rerun_of ? [{ id: rerun_of, name: 'Original session' }] : []),
    ...reruns.toReversed().map((id) => ({ id, name: 'Re-run' })),
  ];
}

/** Returns its cause, unless someone rated that wrong: then it must not look like a fact. */
function nameOf(session: SimilarSession): string {
  if (session.rating === 'wrong') return `${titleOf(session)} (verdict marked wrong)`;
  return plainText(session.cause) || titleOf(session);
}
