/** Feedback on the verdict: people's ratings, and the form to add one. Each person has one rating per session. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleDot, CircleX, type LucideIcon } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api, body } from '@/api/client';
import { ownFeedback } from '@/api/person';
import * as queries from '@/api/queries';
import type { Feedback } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useScope } from '@/app/scope';
import { useSessionFeed } from '@/live/hooks';
import { ratings, ratingWord } from '@/text/words';
import { Badge, type Tone } from '@/ui/badge';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Ago } from '@/ui/time';

type Rating = (typeof ratings)[number];

const longest = 2_000;

const looks: Record<string, { tone: Tone; icon: LucideIcon }> = {
  right: { tone: 'good', icon: CircleCheck },
  partly: { tone: 'warn', icon: CircleDot },
  wrong: { tone: 'bad', icon: CircleX },
};

export function RatingBadge({ rating, words = ratingWord(rating) }: { rating: string; words?: string }) {
  const look = looks[rating] ?? { tone: 'idle' as const, icon: CircleDot };
  return (
    <Badge {...look} data-rating={rating}>
      {words}
    </Badge>
  );
}

export function FeedbackPart({ sessionId }: { sessionId: string }) {
  const client = useQueryClient();
  const query = queries.feedback(sessionId);
  const { data, error } = useQuery(query);
  const who = useQuery(queries.me()).data;
  const may = useScope('write');
  const reload = () => void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  useSessionFeed(sessionId, reload);
  const [choice, setChoice] = useState<Rating>();
  const give = useMutation({
    mutationFn: (said: { rating: Rating; why: string; real_cause: string }) =>
      body(api.PUT('/api/v1/sessions/{id}/feedback', { params: { path: { id: sessionId } }, body: said })),
    onSuccess: () => setChoice(undefined),
    onSettled: reload,
  });
  const withdraw = useMutation({
    mutationFn: () => api.DELETE('/api/v1/sessions/{id}/feedback', { params: { path: { id: sessionId } } }),
    onSettled: reload,
  });
  const own = ownFeedback(who, data?.feedback);
  const choose = (rating: Rating) => {
    give.reset();
    // A correct verdict needs no explanation.
    if (rating === 'right' && own?.rating !== 'right') give.mutate({ rating, why: '', real_cause: '' });
    else setChoice(rating);
  };
  usePageCommands(
    data && may && !give.isPending
      ? ratings.map((rating) => {
          const Icon = looks[rating]?.icon ?? CircleDot;
          return {
            id: `rate ${rating}`,
            label: `Rate the verdict: ${ratingWord(rating)}`,
            keywords: ['feedback'],
            icon: <Icon aria-hidden />,
            run: () => choose(rating),
          };
        })
      : [],
  );
  if (error) return <ProblemPanel error={error} retry={reload} />;
  // The question is shown before the feedback is loaded, so that the content below does not move.
  const given = data?.feedback ?? [];
  return (
    <section className="border-t border-line pt-4" aria-label="Feedback" data-testid="feedback">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-labelledby="feedback-question" className="flex flex-wrap items-center gap-2">
        <h3 id="feedback-question" className="mr-1 text-[13px] font-medium">
          Is this verdict right?
        </h3>
        {ratings.map((rating) => (
          <RatingButton
            key={rating}
            rating={rating}
            pressed={(choice ?? own?.rating) === rating}
            disabled={!data || !may || give.isPending}
            onClick={() => choose(rating)}
          />
        ))}
        {!may && <span className="text-xs text-ink-soft">Your access is read-only.</span>}
      </div>
      {choice && (
        <Reasons
          key={choice}
          rating={choice}
          own={own}
          busy={give.isPending}
          save={(why, real) => give.mutate({ rating: choice, why, real_cause: real })}
          back={() => setChoice(undefined)}
        />
      )}
      {(give.error ?? withdraw.error) && <ProblemPanel className="mt-3" error={give.error ?? withdraw.error} />}
      {given.length > 0 && (
        <ul className="mt-3 space-y-2" aria-label="Feedback of people">
          {given.map((each) => (
            <Opinion
              key={each.id}
              feedback={each}
              withdraw={each === own && may ? () => withdraw.mutate() : undefined}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function RatingButton({
  rating,
  pressed,
  disabled,
  onClick,
}: {
  rating: Rating;
  pressed: boolean;
  disabled: boolean;
  onClick: () => void;
}) {
  const Icon = looks[rating]?.icon ?? CircleDot;
  return (
    <Button
      size="sm"
      className="aria-pressed:border-accent aria-pressed:bg-accent-soft pointer-coarse:h-11"
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
      data-palette="none"
      data-testid={`rate-${rating}`}
    >
      <Icon aria-hidden /> {ratingWord(rating)}
    </Button>
  );
}

function Reasons({
  rating,
  own,
  busy,
  save,
  back,
}: {
  rating: Rating;
  own: Feedback | undefined;
  busy: boolean;
  save: (why: string, realCause: string) => void;
  back: () => void;
}) {
  const [why, setWhy] = useState(own?.why ?? '');
  const [real, setReal] = useState(own?.real_cause ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(why.trim(), rating === 'right' ? '' : real.trim());
  };
  return (
    <form className="mt-3 max-w-[75ch] space-y-3" onSubmit={submit} data-testid="feedback-form">
      <Labelled label="Why" hint="Optional.">
        {(props) => (
          <Textarea
            {...props}
            autoFocus
            rows={2}
            maxLength={longest}
            className="min-h-14"
            value={why}
            onChange={(event) => setWhy(event.target.value)}
          />
        )}
      </Labelled>
      {rating !== 'right' && (
        <Labelled label="Real cause" hint="Optional. Later investigations of similar alerts are given this.">
          {(props) => (
            <Textarea
              {...props}
              rows={2}
              maxLength={longest}
              className="min-h-14"
              value={real}
              onChange={(event) => setReal(event.target.value)}
            />
          )}
        </Labelled>
      )}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" size="sm" className="pointer-coarse:h-11" disabled={busy}>
          {busy ? 'Saving…' : 'Save feedback'}
        </Button>
        <Button size="sm" className="pointer-coarse:h-11" onClick={back}>
          Back
        </Button>
      </div>
    </form>
  );
}

function Opinion({ feedback, withdraw }: { feedback: Feedback; withdraw?: () => void }) {
  return (
    <li className="rounded-md bg-sunken px-3 py-2 text-[13px]" data-testid="opinion">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <RatingBadge rating={feedback.rating} />
        <span className="font-medium [overflow-wrap:anywhere]">{feedback.author}</span>
        <span className="text-xs text-ink-soft">
          <Ago at={feedback.updated_at} />
        </span>
        {withdraw && (
          <Button variant="link" size="sm" className="ml-auto px-0" onClick={withdraw}>
            Withdraw my feedback
          </Button>
        )}
      </p>
      {feedback.why && <p className="mt-1 [overflow-wrap:anywhere] whitespace-pre-wrap">{feedback.why}</p>}
      {feedback.real_cause && (
        <p className="mt-1 [overflow-wrap:anywhere] whitespace-pre-wrap">
          <span className="font-medium">Real cause:</span> {feedback.real_cause}
        </p>
      )}
    </li>
  );
}
