import { CircleAlert } from 'lucide-react';

/** An error that was recorded earlier, with its original message. For a failed request, see ProblemPanel. */
export function Failure({ title, message, code }: { title?: string; message: string; code?: string }) {
  return (
    <div className="flex gap-2 rounded-md border border-bad/40 bg-bad-soft px-3 py-2">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0">
        {title && <p className="font-medium">{title}</p>}
        {(message || !title) && (
          <p className="break-words whitespace-pre-wrap text-ink-soft first-letter:uppercase">
            {message || 'Failed without an error message.'}
          </p>
        )}
        {code && <p className="mt-1 font-mono text-xs text-ink-soft">{code}</p>}
      </div>
    </div>
  );
}
