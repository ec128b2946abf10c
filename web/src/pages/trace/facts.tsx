import type { ReactNode } from 'react';
import type { Usage } from '@/api/types';
import { tokens } from '@/text/format';
import { Cost } from '@/ui/cost';

/** A list of names and values, in as many columns as fit. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-x-4 gap-y-2">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd className="break-words text-ink">{children}</dd>
    </div>
  );
}

export function UsageFacts({ usage }: { usage: Usage }) {
  return (
    <>
      <Fact name="Tokens in">
        {tokens(usage.input_tokens)}
        {usage.cached_tokens > 0 && <span className="text-ink-faint"> ({tokens(usage.cached_tokens)} cached)</span>}
      </Fact>
      <Fact name="Tokens out">
        {tokens(usage.output_tokens)}
        {usage.thinking_tokens > 0 && (
          <span className="text-ink-faint"> (+{tokens(usage.thinking_tokens)} thinking)</span>
        )}
      </Fact>
      <Fact name="Cost">
        <Cost usage={usage} />
        {usage.unpriced_tokens > 0 && (
          <span className="text-ink-faint"> ({tokens(usage.unpriced_tokens)} tokens without a price)</span>
        )}
      </Fact>
    </>
  );
}
