import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { Code } from '@/ui/code';
import { Failure } from '@/ui/failure';
import { PayloadText } from './payload-view';
import { RenderedMarkdown as Markdown } from './rendered';
import { visible } from './visible';

const hostile = 'user\u202etxt.exe\u2066 \u200f\u061c\u001b[31m';
const shown = String.raw`user\u202etxt.exe\u2066 \u200f\u061c\u001b[31m`;

function Passes({ children }: { children: ReactNode }) {
  return children;
}

describe('bidirectional and control characters', () => {
  test('become escapes; other text is unchanged', () => {
    expect(visible(hostile)).toBe(shown);
    expect(visible(visible(hostile))).toBe(shown);
    const others = 'שלום مرحبا é 👩‍💻 \r\n\t\u200b';
    expect(visible(others)).toBe(others);
  });

  test.each([
    ['an element', <p key="1">{hostile}</p>],
    ['one of several children', <p key="2">a {hostile} b</p>],
    ['a list of children', <p key="3">{[hostile, <b key="b">{hostile}</b>]}</p>],
    ['the child of a component', <Passes key="4">{hostile}</Passes>],
    ['a tooltip', <p key="5" title={hostile} />],
    ['a name for screen readers', <button key="6" type="button" aria-label={hostile} />],
    ['an option', <option key="7">{hostile}</option>],
    ['Markdown', <Markdown key="8" text={hostile} />],
    ['code in Markdown', <Markdown key="9" text={`\`\`\`\n${hostile}\n\`\`\``} />],
    ['a link of Markdown', <Markdown key="10" text={`[${hostile}](https://a.example/\u202e)`} />],
    ['a payload', <PayloadText key="11" text={hostile} />],
    ['a command', <Code key="12" text={hostile} />],
    ['a failure', <Failure key="13" title={hostile} message={hostile} />],
  ])('are escaped in %s', (_, element) => {
    const html = renderToStaticMarkup(element);
    for (const character of hostile.match(/[^ -~]/g) ?? []) expect(html).not.toContain(character);
    expect(html).toContain(String.raw`user\u202etxt.exe`);
  });

  test('stay in the value of a field, which people edit', () => {
    expect(renderToStaticMarkup(<input value={hostile} readOnly />)).toContain(hostile);
  });
});
