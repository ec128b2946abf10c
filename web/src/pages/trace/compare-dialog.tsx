/** Asks with which session to compare: one that was investigated before, or any by its id or link. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { SimilarSession } from '@/api/types';
import { sessionIdIn } from '@/app/sessionid';
import { Button } from '@/ui/button';
import { Input } from '@/ui/input';
import { SessionIcon } from '@/ui/outcome';
import { Dialog, DialogContent } from '@/ui/overlay';
import { Ago } from '@/ui/time';

export function CompareDialog({
  sessionId,
  onClose,
  onChoose,
}: {
  sessionId: string;
  onClose: () => void;
  onChoose: (id: string) => void;
}) {
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState('');
  const field = useId();
  const similar = useQuery(queries.similarSessions(sessionId)).data?.sessions ?? [];
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
        {similar.length > 0 && (
          <section className="mt-4" aria-label="Similar sessions">
            <h3 className="mb-1 text-xs font-semibold text-ink-soft">Similar sessions</h3>
            <ul>
              {similar.map((session) => (
                <li key={session.id}>
                  <button
                    type="button"
                    className="flex min-h-9 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-sunken pointer-coarse:min-h-11"
                    onClick={() => onChoose(session.id)}
                  >
                    <SessionIcon session={session} />
                    <span className="min-w-0 flex-1 truncate">{nameOf(session)}</span>
                    <Ago at={session.created_at} className="shrink-0 text-xs text-ink-soft" />
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
      </DialogContent>
    </Dialog>
  );
}

/** Its cause, unless somebody marked that wrong: then it must not look like a fact. */
function nameOf(session: SimilarSession): string {
  if (session.rating === 'wrong') return `${titleOf(session)} (verdict marked wrong)`;
  return session.cause || titleOf(session);
}
