/** A sentence of a verdict with citations of the tool calls that support it. */
import type { Claim } from '@/api/types';
import { Markdown } from '@/text/markdown';
import { cn } from '@/ui/cn';

/**
 * The session of the cited calls, and the event of each call by its number. Without calls, citations are not linked.
 */
export interface Cited {
  sessionId: string;
  calls?: ReadonlyMap<string, string>;
}

export function ClaimText({ claim, cited, className }: { claim: Claim; cited: Cited; className?: string }) {
  if (claim.text === '') return null;
  return <Markdown text={claim.text} {...cited} className={cn('max-w-[75ch] leading-relaxed', className)} />;
}
