/** The next steps, as a checklist. Commands are suggestions of a model: people can copy them, but nothing runs them. */
import { ExternalLink } from 'lucide-react';
import type { NextStep } from '@/api/types';
import { SafeLink } from '@/text/link';
import { riskWord } from '@/text/words';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { type Cited, ClaimText } from './claim';
import { useTicks } from './ticks';

export function NextSteps({ steps, cited }: { steps: readonly NextStep[]; cited: Cited }) {
  const [ticked, tick] = useTicks(cited.sessionId);
  return (
    <>
      <ol className="space-y-3" data-testid="next-steps">
        {steps.map((step, at) => (
          <Step
            // biome-ignore lint/suspicious/noArrayIndexKey: a verdict is written once, so a step keeps its place
            key={at}
            step={step}
            number={at + 1}
            done={ticked.has(at)}
            setDone={(done) => tick(at, done)}
            cited={cited}
          />
        ))}
      </ol>
      <p className="mt-2 text-xs text-ink-faint">Ticks are kept in this browser only.</p>
    </>
  );
}

function Step({
  step,
  number,
  done,
  setDone,
  cited,
}: {
  step: NextStep;
  number: number;
  done: boolean;
  setDone: (done: boolean) => void;
  cited: Cited;
}) {
  return (
    <li className="min-w-0" data-testid="next-step" data-done={done}>
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <label className="flex min-h-6 min-w-0 flex-[1_1_16rem] cursor-pointer items-start gap-2.5 pointer-coarse:min-h-11 pointer-coarse:items-center">
          <input
            type="checkbox"
            checked={done}
            onChange={(event) => setDone(event.target.checked)}
            className="mt-0.5 size-4.5 shrink-0 cursor-pointer accent-accent pointer-coarse:mt-0 pointer-coarse:size-5"
          />
          <span
            className={cn(
              'min-w-0 font-medium [overflow-wrap:anywhere]',
              done && 'text-ink-soft line-through decoration-ink-faint',
            )}
          >
            <span className="tabular-nums">{number}.</span> {step.title}
          </span>
        </label>
        <StepRisk step={step} />
      </div>
      <div className="mt-1 space-y-1.5 pl-7">
        <ClaimText claim={step.why} cited={cited} className="text-[13px] text-ink-soft" />
        {step.command !== '' && (
          <div className="flex items-start gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
            <code className="min-w-0 flex-1 py-1.5 font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">
              {step.command}
            </code>
            <CopyButton text={step.command} label={`Copy command of step ${number}`} />
          </div>
        )}
        {step.url !== '' && (
          <p className="flex items-start gap-1.5 text-[13px] [overflow-wrap:anywhere]">
            <ExternalLink className="mt-0.5 size-3.5 shrink-0 text-ink-faint" aria-hidden />
            <SafeLink href={step.url}>{step.url}</SafeLink>
          </p>
        )}
      </div>
    </li>
  );
}

const riskColours: Record<string, string> = {
  none: 'bg-idle-soft text-idle',
  low: 'bg-idle-soft text-idle',
  medium: 'bg-warn-soft text-warn',
  high: 'bg-bad-soft text-bad',
};

/** The risk of a step. One without risk changes nothing, so there is nothing to undo. */
function StepRisk({ step }: { step: NextStep }) {
  const chip = 'inline-flex h-5 items-center rounded px-1.5 font-medium';
  return (
    <p className="flex shrink-0 flex-wrap gap-1.5 pt-0.5 text-xs max-sm:pl-7" data-testid="step-risk">
      <span className={cn(chip, riskColours[step.risk] ?? riskColours.medium)}>{riskWord(step.risk)}</span>
      {step.risk !== 'none' && (
        <span className={cn(chip, step.reversible ? 'bg-idle-soft text-idle' : 'bg-warn-soft text-warn')}>
          {step.reversible ? 'Reversible' : 'Cannot be undone'}
        </span>
      )}
    </p>
  );
}
