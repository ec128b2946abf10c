import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Ending, RefusalView } from './answer';

const refusal = { messageId: 'm1', reason: 'The chain has no chat any more.', at: '2030-01-01T00:00:00Z', sequence: 1 };

test('a refused question shows the reason and can be asked again', () => {
  const html = renderToStaticMarkup(<RefusalView refusal={refusal} question="Why?" askAgain={() => {}} />);
  expect(html).toContain('Why?');
  expect(html).toContain('Question not answered');
  expect(html).toContain(refusal.reason);
  expect(html).toContain('Ask again');
});

test('a refused question from another page shows only the reason', () => {
  const html = renderToStaticMarkup(<RefusalView refusal={refusal} question={undefined} askAgain={undefined} />);
  expect(html).toContain(refusal.reason);
  expect(html).not.toContain('Ask again');
});

test.each([
  ['active', 'a', 'Answering…'],
  ['active', undefined, 'Thinking…'],
  ['cancelling', 'a', 'Stopping the answer…'],
  ['cancelled', 'a', 'The answer was stopped; the text above is incomplete.'],
  ['cancelled', undefined, 'Stopped before an answer was written.'],
  ['failed', undefined, 'The model did not respond.'],
])('an answer with status %s and text %s shows: %s', (status, answer, words) => {
  const exchange = { answer, answered: false, problem: 'The model did not respond.' };
  expect(renderToStaticMarkup(<Ending status={status} exchange={exchange} />)).toContain(words);
});
