/** The first view of a session: its title, and the verdict with its next steps. */
import type { NextStep, SessionDetail } from '@/api/types';
import { plainText } from '@/text/plain';
import { confidenceWord, riskWord } from '@/text/words';
import { element } from './element';
import { badge } from './list';

export function firstSession(session: SessionDetail): HTMLElement {
  const { verdict } = session;
  const cause = verdict?.cause.text || session.cause || session.executive_summary || session.error_message;
  return element(
    'div',
    { class: 'mx-auto w-full max-w-4xl space-y-3 p-3 sm:p-4', 'data-testid': 'first-session' },
    element('h1', { class: 'font-semibold break-words' }, session.title || session.alert_type),
    element(
      'section',
      { class: 'space-y-3 rounded-lg border border-line bg-surface p-4', 'aria-label': 'Verdict' },
      element(
        'p',
        { class: 'flex items-center gap-2 text-[13px] text-ink-soft' },
        badge(session),
        verdict !== null && `${confidenceWord(verdict.confidence)} confidence`,
      ),
      cause !== '' &&
        element(
          'p',
          { class: 'text-base leading-snug font-semibold break-words', 'data-testid': 'first-cause' },
          plainText(cause),
        ),
      verdict !== null &&
        verdict.impact.text !== '' &&
        element('p', { class: 'break-words' }, plainText(verdict.impact.text)),
      verdict !== null &&
        verdict.next_steps.length > 0 &&
        element(
          'section',
          { class: 'border-t border-line pt-3' },
          element('h2', { class: 'mb-2 text-xs font-semibold text-ink-soft' }, 'Next steps'),
          element('ol', { class: 'space-y-3' }, ...verdict.next_steps.map(step)),
        ),
    ),
  );
}

function step({ title, risk, command }: NextStep, at: number): HTMLElement {
  return element(
    'li',
    { class: 'break-words' },
    element('p', { class: 'font-medium' }, `${at + 1}. ${title}`),
    element('p', { class: 'text-xs text-ink-soft' }, riskWord(risk)),
    command !== '' &&
      element(
        'div',
        { class: 'mt-1 flex items-start gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3' },
        element(
          'code',
          { class: 'min-w-0 flex-1 py-1.5 font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap' },
          command,
        ),
        copyButton(command, at + 1),
      ),
  );
}

function copyButton(text: string, number: number): HTMLElement {
  const look = 'min-h-11 rounded-md px-3 text-xs font-medium text-ink-soft';
  const button = element(
    'button',
    { type: 'button', class: look, 'aria-label': `Copy command of step ${number}` },
    'Copy',
  );
  button.addEventListener('click', () => {
    navigator.clipboard?.writeText(text).then(
      () => button.replaceChildren('Copied'),
      () => button.replaceChildren('Not copied'),
    );
  });
  return button;
}
