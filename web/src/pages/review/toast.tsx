/** Shows the last decision with an undo button. It stays until the next decision, so nobody has to hurry. */
import { Undo2, X } from 'lucide-react';
import { asProblem } from '@/api/problem';
import { Button } from '@/ui/button';
import { Kbd } from '@/ui/kbd';
import { type Decision, done } from './words';

export interface Decided {
  id: string;
  title: string;
  decision: Decision;
}

export function DecisionToast({
  decided,
  pending,
  error,
  onUndo,
  onClose,
}: {
  decided: Decided | undefined;
  pending: boolean;
  error: Error | null;
  onUndo: (id: string) => void;
  onClose: () => void;
}) {
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-20 flex justify-center px-3 max-md:bottom-18"
    >
      {(decided || error) && (
        <div
          className="pointer-events-auto flex max-w-full items-center gap-2 rounded-lg border border-line-strong bg-raised py-1.5 pr-1.5 pl-4 shadow-lg"
          data-testid="review-toast"
        >
          <p className="min-w-0">
            {decided && (
              <span className="flex min-w-0 gap-1">
                <span className="shrink-0 font-medium">{done[decided.decision]}:</span>
                <span className="truncate">{decided.title}</span>
              </span>
            )}
            {error && <span className="block break-words text-bad">{asProblem(error).message}</span>}
          </p>
          {decided && (
            <Button
              size="sm"
              disabled={pending}
              aria-keyshortcuts="u"
              onClick={() => onUndo(decided.id)}
              data-testid="review-undo"
            >
              <Undo2 aria-hidden /> Undo <Kbd keys="u" className="max-sm:hidden" />
            </Button>
          )}
          <Button size="icon" variant="ghost" aria-label="Dismiss" onClick={onClose}>
            <X aria-hidden />
          </Button>
        </div>
      )}
    </div>
  );
}
