// @vitest-environment jsdom
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { previewOf } from '@/pages/session/timeline/preview';
import { Code } from '@/ui/code';
import { Failure } from '@/ui/failure';
import { Markdown } from './markdown';
import { PayloadText } from './payload-view';
import { visible } from './visible';

const hostile = 'user\u202etxt.exe\u2066 \u200f\u061c';
const shown = String.raw`user\u202etxt.exe\u2066 \u200f\u061c`;

describe('characters that change the direction of text', () => {
  test('become escapes; all other text stays as it is', () => {
    expect(visible(hostile)).toBe(shown);
    const others = 'שלום مرحبا é 👩‍💻 \n\t\u200b';
    expect(visible(others)).toBe(others);
  });

  test.each([
    ['Markdown', <Markdown key="a" text={hostile} />],
    ['code in Markdown', <Markdown key="b" text={`\`\`\`\n${hostile}\n\`\`\``} />],
    ['a link of Markdown', <Markdown key="c" text={`[${hostile}](https://a.example/\u202e)`} />],
    ['a payload', <PayloadText key="d" text={hostile} />],
    ['a command', <Code key="e" text={hostile} />],
    ['a failure', <Failure key="f" title={hostile} message={hostile} />],
  ])('are escaped in %s', (_, element) => {
    const html = renderToStaticMarkup(element);
    expect(html).not.toMatch(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    expect(html).toContain(String.raw`user\u202etxt.exe`);
  });

  test('are escaped in the line of a timeline row', () => {
    const event = { event_type: 'llm_response', status: 'completed', content: hostile, metadata: {} };
    expect(previewOf(event as unknown as Parameters<typeof previewOf>[0])).toContain(String.raw`user\u202etxt.exe`);
  });
});
