/** The answer of an investigation: the cause, the confidence, and the next steps. It is never truncated. */
import type { ReactNode } from 'react';
import type { SessionDetail, Verdict } from '@/api/types';
import { confidenceWord } from '@/text/words';
import type { Tone } from '@/ui/badge';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { Loading } from '@/ui/feedback';
import { OutcomeBadge, outcomeTone } from '@/ui/outcome';
import { type Cited, ClaimText } from './claim';
import { FeedbackPart } from './rating';
import { NextSteps } from './steps';
import { verdictMarkdown } from './verdict-text';

const edges: Record<Tone, string> = {
  running: 'border-l-running',
  good: 'border-l-good',
  found: 'border-l-found',
  bad: 'border-l-bad',
  warn: 'border-l-warn',
  idle: 'border-l-idle',
};

/**
 * The outcome and cause come from the journal; the rest follows with the SessionDetail. A read-only verdict cannot be
 * rated.
 */
export function VerdictCard({
  session,
  cited,
  readOnly = false,
}: {
  session: Pick<SessionDetail, 'id' | 'outcome' | 'cause' | 'verdict'>;
  cited: Cited;
  readOnly?: boolean;
}) {
  const { verdict, outcome } = session;
  return (
    <Card
      className={cn('border-l-4', edges[outcomeTone(outcome)])}
      aria-label="Verdict"
      data-testid="verdict"
      data-outcome={outcome}
    >
      <CardHeader>
        <CardTitle className="max-sm:flex-1">Verdict</CardTitle>
        <OutcomeBadge outcome={outcome} className="max-sm:order-2" />
        {verdict && (
          <span className="text-[13px] max-sm:order-2 text-ink-soft" data-testid="verdict-confidence">
            {confidenceWord(verdict.confidence)} confidence
          </span>
        )}
        {verdict && (
          <span className="ml-auto max-sm:order-1 max-sm:basis-1/2 max-sm:text-right">
            <CopyButton text={() => verdictMarkdown(verdict)} label="Copy verdict" />
          </span>
        )}
      </CardHeader>
      <CardBody className="space-y-4">
        <div className="text-base leading-snug font-semibold" data-testid="verdict-cause">
          <ClaimText
            claim={
              verdict?.cause.text ? verdict.cause : { text: session.cause || withoutCause(outcome), citations: [] }
            }
            cited={cited}
            className="leading-snug"
          />
        </div>
        {verdict ? <Rest verdict={verdict} cited={cited} /> : <Loading what="the verdict" rows={4} className="px-0" />}
        {verdict && !readOnly && <FeedbackPart sessionId={session.id} />}
      </CardBody>
    </Card>
  );
}

function withoutCause(outcome: string): string {
  switch (outcome) {
    case 'false_alarm':
      return 'Nothing is wrong.';
    case 'needs_human':
      return 'A person must decide or act before the investigation can go on.';
    default:
      return 'No cause was found.';
  }
}

function Rest({ verdict, cited }: { verdict: Verdict; cited: Cited }) {
  return (
    <>
      <dl className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-1 @md:grid-cols-[auto_minmax(0,1fr)] @md:gap-y-3">
        <Fact name="Impact" testId="verdict-impact">
          {verdict.impact.text ? <ClaimText claim={verdict.impact} cited={cited} /> : 'Unknown.'}
        </Fact>
        <Fact name="Confidence" testId="verdict-reason">
          {verdict.confidence_reason.text ? (
            <ClaimText claim={verdict.confidence_reason} cited={cited} />
          ) : (
            `${confidenceWord(verdict.confidence)}.`
          )}
        </Fact>
      </dl>
      {verdict.next_steps.length > 0 && (
        <Part title="Next steps">
          <NextSteps steps={verdict.next_steps} cited={cited} />
        </Part>
      )}
      {verdict.not_checked.length > 0 && (
        <Part title="Not checked">
          <ul className="list-disc space-y-1 pl-5" data-testid="not-checked">
            {verdict.not_checked.map((claim) => (
              <li key={claim.text}>
                <ClaimText claim={claim} cited={cited} />
              </li>
            ))}
          </ul>
        </Part>
      )}
    </>
  );
}

function Fact({ name, testId, children }: { name: string; testId: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-[13px] text-ink-faint">{name}</dt>
      <dd className="min-w-0 @max-md:mb-2" data-testid={testId}>
        {children}
      </dd>
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line pt-4">
      <h3 className="mb-2 text-xs font-semibold text-ink-soft">{title}</h3>
      {children}
    </section>
  );
}
