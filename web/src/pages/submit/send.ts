/** Submits the form and shows errors next to the part that caused them. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api, body } from '@/api/client';
import { asProblem, Problem } from '@/api/problem';
import { keys } from '@/api/queries';
import { checkPayload } from './check';
import { fieldIds } from './field';
import { bodyOf, type FormPart, partOf, requestOf, type SubmitForm, tooLarge } from './form';

/** Creates a Problem for a mistake found by the page, in the form of a server error. */
function mistake(detail: string, field = 'data'): Problem {
  return new Problem({ status: 0, code: 'invalid_field', title: 'Invalid field', detail, field });
}

async function send(form: SubmitForm, alertType: string): Promise<string> {
  if (form.payload.trim() === '') throw mistake('The payload is empty. Enter the alert or drop a file.');
  const checked = await checkPayload(form.payload, form.format);
  // The editor shows the mistake and its position.
  if (!checked.ok) throw mistake(checked.mistake.message);
  const request = requestOf(form, alertType);
  const large = tooLarge(bodyOf(request, checked.data));
  if (large !== null) throw mistake(large);
  const answer = await body(
    api.POST('/api/v1/alerts', {
      body: { ...request, data: '' },
      // JSON is sent as written, which a JavaScript object could not preserve.
      bodySerializer: () => bodyOf(request, checked.data),
    }),
  );
  return answer.session_id;
}

interface Sending {
  submit: () => void;
  pending: boolean;
  /** Errors by part of the form. */
  problems: Partial<Record<FormPart, string>>;
  /** An error that belongs to no part. */
  problem: Problem | null;
  /** A part was changed: its errors no longer apply. */
  changed: (...parts: FormPart[]) => void;
}

export function useSend(form: SubmitForm, alertType: string, onSent: () => void): Sending {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [cleared, setCleared] = useState<readonly FormPart[]>([]);
  const sending = useMutation({
    mutationFn: () => send(form, alertType),
    onMutate: () => setCleared([]),
    onSuccess: (sessionId) => {
      onSent();
      void client.invalidateQueries({ queryKey: keys.sessions });
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } });
    },
  });

  const problem = sending.error === null ? null : asProblem(sending.error);
  const part = problem && partOf(problem.field, problem.code);
  useEffect(() => {
    if (sending.error === null || part === null) return;
    const control = document.getElementById(fieldIds(part).control);
    control?.focus();
    control?.scrollIntoView({ block: 'nearest' });
  }, [sending.error, part]);

  return {
    submit: () => {
      if (!sending.isPending) sending.mutate();
    },
    pending: sending.isPending || sending.isSuccess,
    problems: problem && part && !cleared.includes(part) ? { [part]: problem.message } : {},
    problem: part === null ? problem : null,
    changed: (...parts) => {
      // Also while pending: the response will be about the previous content.
      if (sending.isError || sending.isPending) setCleared((before) => [...before, ...parts]);
    },
  };
}
