import { CircleAlert } from 'lucide-react';

/** What went wrong with a call, in the words of whoever said it. */
export function Failure({ code, message }: { code?: string; message: string }) {
  return (
    <div className="flex gap-2 rounded-md border border-bad/40 bg-bad-soft p-3">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0">
        <p className="break-words whitespace-pre-wrap">{message || 'It failed without saying why.'}</p>
        {code && <p className="mt-1 font-mono text-xs text-ink-soft">{code}</p>}
      </div>
    </div>
  );
}
