/**
 * The form's state. A draft survives a reload of the tab, but a form filled from a session neither reads nor replaces
 * it.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { keepDraft, readDraft } from '@/ui/draft';
import { draftOf, emptyForm, isEmpty, type SubmitForm } from './form';

const key = 'tarsy.submit';
const pause = 400;

function save(form: SubmitForm): void {
  keepDraft(key, isEmpty(form) ? '' : JSON.stringify(form));
}

interface Draft {
  form: SubmitForm;
  update: (change: Partial<SubmitForm>) => void;
  /** Deletes the saved draft after it was submitted or cleared. */
  discard: () => void;
}

export function useDraft(filled: SubmitForm | null): Draft {
  const [form, setForm] = useState<SubmitForm>(() => filled ?? draftOf(readDraft(key)) ?? emptyForm);
  const update = useCallback((change: Partial<SubmitForm>) => setForm((before) => ({ ...before, ...change })), []);
  const kept = filled === null;
  const latest = useRef<SubmitForm | null>(form);

  useEffect(() => {
    if (!kept) return;
    latest.current = form;
    const timer = setTimeout(() => save(form), pause);
    return () => clearTimeout(timer);
  }, [form, kept]);

  useEffect(() => {
    if (!kept) return;
    const flush = () => {
      if (latest.current !== null) save(latest.current);
    };
    window.addEventListener('pagehide', flush);
    return () => {
      window.removeEventListener('pagehide', flush);
      flush();
    };
  }, [kept]);

  const discard = useCallback(() => {
    if (kept) save(emptyForm);
    latest.current = null;
    setForm(emptyForm);
  }, [kept]);
  return { form, update, discard };
}
