/** The form's state. What was typed survives a reload of the tab; a form that a session filled is left alone by that. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { emptyForm, isEmpty, readDraft, type SubmitForm } from './form';

const key = 'tarsy.submit';
const pause = 400;

function load(): SubmitForm | null {
  try {
    return readDraft(sessionStorage.getItem(key));
  } catch {
    // Storage may be forbidden: nothing survives then.
    return null;
  }
}

function save(form: SubmitForm): void {
  try {
    if (isEmpty(form)) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(form));
  } catch {
    // Forbidden, or full.
  }
}

export interface Draft {
  form: SubmitForm;
  update: (change: Partial<SubmitForm>) => void;
  /** Forgets what was kept: it was sent, or is not wanted. */
  discard: () => void;
}

export function useDraft(filled: SubmitForm | null): Draft {
  const [form, setForm] = useState<SubmitForm>(() => filled ?? load() ?? emptyForm);
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
