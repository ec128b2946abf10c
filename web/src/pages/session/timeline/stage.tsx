/** The header of a stage and of a parallel agent, and the mark at the end of the timeline. */
import { ArrowUp, ChevronsDownUp, ChevronsUpDown } from 'lucide-react';
import { isOver } from '@/api/status';
import type { ExecutionDetail, SessionDetail, Usage } from '@/api/types';
import type { StageView } from '@/live/view';
import { counted, duration, elapsed, tokens } from '@/text/format';
import { plainText } from '@/text/plain';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Cost } from '@/ui/cost';
import { OutcomeBadge } from '@/ui/outcome';
import { StatusBadge, StatusIcon, statusLabel } from '@/ui/status';
import { ClockTime, Running } from '@/ui/time';
import { useTimeline } from './context';
import { eventsOf, isParallel } from './rows';

export function StageHeader({ view }: { view: StageView }) {
  const { folding } = useTimeline();
  const { stage, executions } = view;
  const parallel = isParallel(view);
  const only = parallel ? undefined : executions[0]?.execution;
  // The failure of a single agent is shown by its own error event.
  const message =
    only?.error_message === stage.error_message && view.executions[0]?.events.length ? '' : stage.error_message;
  return (
    <div className="border-b border-line-strong pt-5 pb-1.5" data-testid="stage-header" data-stage-id={stage.id}>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h2 className="min-w-0 truncate text-sm font-semibold">
          <span className="text-ink-faint tabular-nums">{stage.stage_index}. </span>
          {stage.stage_type === 'chat' ? 'Question and answer' : stage.stage_name}
        </h2>
        <EndedBadge status={stage.status} />
        <span className="min-w-0 truncate text-xs text-ink-soft">
          {only ? agentLine(only) : parallel && `${Math.max(stage.expected_agent_count, executions.length)} agents`}
        </span>
        <Figures
          className="ml-auto"
          usage={stage.usage}
          toolCalls={stage.tool_calls}
          started={stage.started_at}
          completed={stage.completed_at}
        />
        <span className="flex shrink-0">
          <Button
            variant="ghost"
            size="sm"
            className="w-7 px-0"
            aria-label={`Expand all of stage ${stage.stage_index}`}
            title="Expand all"
            onClick={() => folding.chooseAll(eventsOf(view), true)}
          >
            <ChevronsUpDown aria-hidden />
          </Button>
          <Button
            variant="ghost"
            size="sm"
            className="w-7 px-0"
            aria-label={`Collapse all of stage ${stage.stage_index}`}
            title="Collapse all"
            onClick={() => folding.chooseAll(eventsOf(view), false)}
          >
            <ChevronsDownUp aria-hidden />
          </Button>
        </span>
      </div>
      {message && <p className="mt-1 line-clamp-3 [overflow-wrap:anywhere] text-[13px] text-bad">{message}</p>}
    </div>
  );
}

function agentLine(execution: ExecutionDetail): string {
  return [execution.agent_name, execution.llm_provider].filter((part) => part !== '').join(' · ');
}

export function PaneHead({ execution }: { execution: ExecutionDetail }) {
  return (
    <div className="border-b border-line px-3 py-2">
      <div className="flex items-center gap-2">
        <h3 className="min-w-0 flex-1 truncate text-[13px] font-semibold" title={execution.agent_name}>
          {execution.agent_name}
        </h3>
        <EndedBadge status={execution.status} />
      </div>
      <div className="mt-0.5 flex items-center gap-2 text-xs text-ink-faint">
        <span className="min-w-0 flex-1 truncate">{execution.llm_provider}</span>
        <Figures
          usage={execution.usage}
          toolCalls={execution.tool_calls}
          started={execution.started_at}
          completed={execution.completed_at}
        />
      </div>
    </div>
  );
}

function Figures({
  usage,
  toolCalls,
  started,
  completed,
  className,
}: {
  usage: Usage;
  toolCalls: number;
  started: string | null;
  completed: string | null;
  className?: string;
}) {
  return (
    <span className={cn('flex shrink-0 items-center gap-2 text-xs text-ink-faint tabular-nums', className)}>
      {toolCalls > 0 && <span className="@max-lg:hidden">{counted(toolCalls, 'call')}</span>}
      {usage.total_tokens > 0 && <span title="Tokens in and out">{tokens(usage.total_tokens)} tok</span>}
      {usage.cost_usd > 0 && <Cost usage={usage} />}
      {started &&
        (completed ? (
          <span>{duration(elapsed(started, completed, new Date(completed)))}</span>
        ) : (
          <Running since={started} />
        ))}
    </span>
  );
}

/** The status when it has ended. While it runs an icon is enough: the top of the page shows what is running. */
function EndedBadge({ status }: { status: string }) {
  const running = ['active', 'started', 'pending'].includes(status);
  return running ? <StatusIcon status={status} /> : <StatusBadge status={status} />;
}

/** The mark at the end of the investigation, or at its current point. */
export function EndMark({ session, showVerdict }: { session: SessionDetail; showVerdict?: () => void }) {
  if (!isOver(session.status)) {
    return (
      <p className="flex h-12 items-center gap-2 text-[13px] text-ink-soft" data-testid="timeline-end">
        {session.status === 'pending' && 'Waiting for a free worker.'}
      </p>
    );
  }
  return (
    <div data-testid="timeline-end">
      <p className="flex h-12 items-center gap-2 text-xs text-ink-faint">
        <span className="h-px flex-1 bg-line" aria-hidden />
        <span>
          {statusLabel(session.status)}
          {session.completed_at && (
            <>
              {' at '}
              <ClockTime at={session.completed_at} />
            </>
          )}
          {session.completed_at &&
            session.started_at &&
            ` after ${duration(elapsed(session.started_at, session.completed_at, new Date(session.completed_at)))}`}
        </span>
        <span className="h-px flex-1 bg-line" aria-hidden />
      </p>
      {session.outcome !== '' && showVerdict && <Ending session={session} showVerdict={showVerdict} />}
    </div>
  );
}

/** The verdict in short, for readers who followed the investigation to its end. */
function Ending({ session, showVerdict }: { session: SessionDetail; showVerdict: () => void }) {
  return (
    <div className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-line bg-surface px-4 py-3">
      <OutcomeBadge outcome={session.outcome} />
      <p className="min-w-0 flex-[1_1_20rem] font-medium [overflow-wrap:anywhere]">{plainText(session.cause)}</p>
      <Button size="sm" onClick={showVerdict} data-testid="end-verdict">
        <ArrowUp aria-hidden /> Show verdict
      </Button>
    </div>
  );
}
