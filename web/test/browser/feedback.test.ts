/** Feedback on a verdict, on its card. */
import { expect, test } from 'vitest';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually, stored } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  script: verdictScript(JSON.stringify(verdictAnswer)),
  config: verdictConfig,
  verdict: true,
});

interface Given {
  feedback: { rating: string; why: string; real_cause: string }[];
}

test('feedback is given, changed and withdrawn, and updates for other readers', async () => {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const given = async () => (await server().ask<Given>('GET', `/api/v1/sessions/${id}/feedback`)).feedback;
  const tab = await visit(`/sessions/${id}`);
  const other = await visit(`/sessions/${id}`);
  const { page } = tab;

  // Rating a verdict right takes one click.
  await page.getByTestId('rate-right').click();
  await eventually(() => page.getByTestId('opinion').count()).toBe(1);
  await eventually(() => page.getByTestId('rate-right').getAttribute('aria-pressed')).toBe('true');
  expect(await stored(given())).toMatchObject([{ rating: 'right', why: '', real_cause: '' }]);
  await other.page.getByTestId('opinion').getByText('Right').waitFor();

  // Rating it wrong takes a reason and the real cause; by keyboard too.
  await page.getByTestId('rate-wrong').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Why').fill('The pod was fine.');
  await page.getByLabel('Real cause').fill('An expired certificate.');
  await tab.expectAccessible();
  await page.getByRole('button', { name: 'Save feedback' }).click();
  const opinion = page.getByTestId('opinion');
  await opinion.getByText('An expired certificate.').waitFor();
  await eventually(() => opinion.innerText()).toContain('The pod was fine.');
  await eventually(() => page.getByTestId('feedback-form').count()).toBe(0);
  expect(await stored(given())).toMatchObject([
    { rating: 'wrong', why: 'The pod was fine.', real_cause: 'An expired certificate.' },
  ]);
  await other.page.getByText('An expired certificate.').waitFor();

  await opinion.getByRole('button', { name: 'Withdraw my feedback' }).click();
  await eventually(() => page.getByTestId('opinion').count()).toBe(0);
  expect(await stored(given())).toEqual([]);
});
