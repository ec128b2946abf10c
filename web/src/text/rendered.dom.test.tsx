import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterContextProvider,
} from '@tanstack/react-router';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { RenderedMarkdown as Markdown } from './rendered';

const calls = new Map([
  ['1.1.1', 'event-a'],
  ['1.1.2', 'event-b'],
]);

function testRouter() {
  const root = createRootRoute();
  const session = createRoute({ getParentRoute: () => root, path: '/sessions/$sessionId' });
  return createRouter({ routeTree: root.addChildren([session]), history: createMemoryHistory() });
}

function draw(text: string, props: { streaming?: boolean; withCalls?: boolean } = {}): HTMLElement {
  const html = renderToStaticMarkup(
    // The app's router type is registered globally; this router has only the route that citations need.
    <RouterContextProvider router={testRouter() as never}>
      <Markdown
        text={text}
        streaming={props.streaming}
        {...(props.withCalls === false ? {} : { calls, sessionId: 'the-session' })}
      />
    </RouterContextProvider>,
  );
  return new DOMParser().parseFromString(html, 'text/html').body;
}

/** The elements and attributes that a text may produce. */
const harmless = new Set(
  'div p h3 a span s ul ol li pre code button svg path rect table thead tbody tr th td strong em del br hr blockquote'.split(
    ' ',
  ),
);
const attributes = new Set(
  'class data-button href title target rel role tabindex type scope style start aria-label aria-hidden dir aria-live'.split(
    ' ',
  ),
);
const ofIcons = new Set(
  'class aria-hidden xmlns width height viewBox viewbox fill stroke stroke-width stroke-linecap stroke-linejoin d x y rx ry'.split(
    ' ',
  ),
);

function expectHarmless(body: HTMLElement): void {
  for (const element of body.querySelectorAll('*')) {
    const name = element.tagName.toLowerCase();
    expect(harmless, `<${name}>`).toContain(name);
    for (const attribute of element.attributes) {
      const inIcon = element.closest('svg') !== null;
      expect(inIcon ? ofIcons : attributes, `${name}[${attribute.name}]`).toContain(attribute.name);
      if (attribute.name === 'style') expect(attribute.value).toMatch(/^text-align:(left|right|center)$/);
      if (attribute.name === 'href') expect(attribute.value).toMatch(/^(https?:\/\/|\/sessions\/)/);
    }
  }
}

function depthOf(body: HTMLElement): number {
  let depth = 0;
  for (let level: Element[] = [body]; level.length > 0; depth++)
    level = level.flatMap((element) => [...element.children]);
  return depth;
}

const hostile: [string, string][] = [
  ['script', '<script>alert(1)</script>'],
  ['script in a line', 'a <script src="https://evil.example/x.js"></script> b'],
  ['onerror', '<img src=x onerror="alert(1)">'],
  ['svg', '<svg onload="alert(1)"><animate onbegin="alert(1)" attributeName="x"/></svg>'],
  ['style', '<style>body{display:none}</style>\n\n<p style="position:fixed">x</p>'],
  ['iframe', '<iframe src="https://evil.example" srcdoc="<script>alert(1)</script>"></iframe>'],
  ['form', '<form action="https://evil.example"><input name="key"><button>Log in</button></form>'],
  ['comment', 'a <!-- <script>alert(1)</script> --> b\n\n<!-- block -->'],
  ['cdata and processing instructions', '<![CDATA[ <script>alert(1)</script> ]]> <?php echo 1 ?> <!DOCTYPE html>'],
  ['entities', '&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;'],
  [
    'javascript link',
    '[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [z](java&#10;script:alert(1)) [w](<javascript:alert(1)>)',
  ],
  ['javascript autolink', '<javascript:alert(1)> <vbscript:x> javascript:alert(1)'],
  ['data link', '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)'],
  [
    'other protocols',
    '[a](file:///etc/passwd) [b](ftp://x/y) [c](//evil.example) [d](\\\\evil) [e](/logout) [f](#top) <mailto:a@b.c>',
  ],
  ['link by reference', '[x][r] [r] ![y][r]\n\n[r]: javascript:alert(1) "t"'],
  ['remote image', '![x](https://evil.example/pixel.png "t")'],
  ['data image', '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)'],
  ['image in a link', '[![x](https://evil.example/p.png)](javascript:alert(1))'],
  ['footnotes', 'a[^1] b[^x]\n\n[^1]: <img src=x>\n\n[^x]: two'],
  ['attributes in code', '```"><script>alert(1)</script>\n<b>x</b>\n```\n\n`<i onclick=x>`'],
  ['table', '| a | <b> |  |\n|:--|--:|---|\n| <script> | ![i](https://evil.example/i) | [x](javascript:x) |'],
  ['task list', '- [x] done\n- [ ] not\n- [ ] <input onfocus=alert(1) autofocus>'],
  ['NUL', 'a\0b <scr\0ipt>alert(1)</scr\0ipt>'],
  ['names of prototypes', '<constructor> <__proto__ x=y> [constructor]: x\n\n[__proto__] [toString]'],
  ['own elements', '<cite data-call="1.1.1">x</cite> <Markdown> <fragment>'],
  [
    'math and diagrams',
    '$$x$$ \\(y\\)\n\n```mermaid\ngraph TD; A-->B; click A "javascript:alert(1)"\n```\n\n```html\n<script>\n```',
  ],
  ['open ends', '**bold [link](https://evil.example/ `code ![img](https://evil.ex <scri'],
  ['open script', '<script>\nalert(1)'],
];

describe.each([{ streaming: false }, { streaming: true }])('hostile text, streaming: $streaming', ({ streaming }) => {
  test.each(hostile)('%s is rendered harmless', (_name, text) => {
    expectHarmless(draw(text, { streaming }));
  });

  test.each([
    ['quotes', '>'.repeat(50_000)],
    ['quotes with spaces', '> '.repeat(20_000)],
    ['lists', '- '.repeat(20_000)],
    ['numbers', '1. '.repeat(20_000)],
    ['indented lists', Array.from({ length: 2000 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n')],
    ['brackets', '['.repeat(50_000)],
    ['closed brackets', '['.repeat(40_000) + ']'.repeat(40_000)],
    ['images', '!['.repeat(40_000)],
    ['stars', '*a '.repeat(30_000)],
    ['nested emphasis', '*a '.repeat(700) + 'a* '.repeat(700)],
    ['nested strong', '**a '.repeat(700) + 'a** '.repeat(700)],
    ['elements', '<b>'.repeat(10_000)],
    ['one line of a megabyte', 'x'.repeat(1_000_000)],
    ['words of a megabyte', 'word '.repeat(200_000)],
    ['eight megabytes', 'word\n\n'.repeat(1_400_000)],
  ])(
    '%s do not hang or break the page',
    (_name, text) => {
      const body = draw(text, { streaming });
      expectHarmless(body);
      expect(body.textContent?.length).toBeGreaterThan(0);
      expect(body.querySelectorAll('*').length).toBeLessThan(60_000);
      expect(depthOf(body)).toBeLessThan(120);
    },
    60_000,
  );

  test('HTML is shown as text', () => {
    const body = draw('<div onclick="x">a <b>b</b></div>\n\nc <i>d</i>', { streaming });
    expect(body.textContent).toContain('<div onclick="x">a <b>b</b></div>');
    expect(body.textContent).toContain('c <i>d</i>');
  });

  test('an image is shown as its alt text and address', () => {
    const body = draw('![a graph](https://evil.example/pixel.png) ![b][r]\n\n[r]: https://evil.example/b.png', {
      streaming,
    });
    expect(body.textContent?.trim()).toBe('a graph (https://evil.example/pixel.png) b (https://evil.example/b.png)');
    expect(body.querySelector('img, a')).toBeNull();
  });
});

test('links open in a new tab without a referrer', () => {
  const link = draw('see [the docs](https://docs.example/x?y=1) and https://other.example').querySelectorAll('a');
  expect([...link].map((a) => [a.getAttribute('href'), a.rel, a.target])).toEqual([
    ['https://docs.example/x?y=1', 'noopener noreferrer nofollow', '_blank'],
    ['https://other.example', 'noopener noreferrer nofollow', '_blank'],
  ]);
});

test('an unsafe link is shown as its text', () => {
  expect(draw('[click me](javascript:alert(1))').textContent).toBe('click me');
});

test('headings are at a lower level than those of the page', () => {
  const body = draw('# a\n\n### b\n\n###### c\n\nd\n===');
  expect([...body.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => h.tagName)).toEqual(['H3', 'H3', 'H3', 'H3']);
});

test('code is shown unchanged, with a copy button', () => {
  const body = draw('```yaml\na: <b>\n  c: 1\n```');
  expect(body.querySelector('pre')?.textContent).toBe('a: <b>\n  c: 1');
  expect(body.querySelector('button')?.getAttribute('aria-label')).toBe('Copy code');
});

test('a wide table scrolls on its own and is reachable by keyboard', () => {
  const box = draw('| a |\n|---|\n| b |').querySelector('table')?.parentElement;
  expect(box?.className).toContain('overflow-x-auto');
  expect(box?.getAttribute('tabindex')).toBe('0');
});

describe('citations', () => {
  const links = (body: HTMLElement) =>
    [...body.querySelectorAll('a')].map((a) => [a.textContent, a.getAttribute('href')]);

  test.each([{ streaming: false }, { streaming: true }])(
    'a citation links to its tool call, streaming: $streaming',
    ({ streaming }) => {
      const body = draw('The disk is full [call 1.1.1], **again [call 1.1.1, 1.1.2]**.', { streaming });
      expect(links(body)).toEqual([
        ['1.1.1', '/sessions/the-session?call=1.1.1'],
        ['1.1.1', '/sessions/the-session?call=1.1.1'],
        ['1.1.2', '/sessions/the-session?call=1.1.2'],
      ]);
      expect(body.textContent).toBe('The disk is full 1.1.1, again 1.1.11.1.2.');
      expect(body.querySelector('a')?.getAttribute('aria-label')).toBe('Tool call 1.1.1');
    },
  );

  test('a citation of an unknown call is struck through with a tooltip', () => {
    const body = draw('so it is [call 9.9.9]');
    expect(links(body)).toEqual([]);
    expect(body.querySelector('s')?.textContent).toBe('9.9.9');
    expect(body.querySelector('[title]')?.getAttribute('title')).toBe('No such tool call in this session');
  });

  test('a citation is plain text while the calls are not loaded', () => {
    const body = draw('so it is [call 1.1.1]', { withCalls: false });
    expect(links(body)).toEqual([]);
    expect(body.querySelector('s')).toBeNull();
    expect(body.textContent).toBe('so it is 1.1.1');
  });

  test.each([
    ['inline code', 'see `[call 1.1.1]`'],
    ['fenced code', '```\n[call 1.1.1]\n```'],
    ['indented code', '    [call 1.1.1]'],
  ])('%s is not a citation', (_name, text) => {
    const body = draw(text);
    expect(links(body)).toEqual([]);
    expect(body.querySelector('code')?.textContent).toBe('[call 1.1.1]');
  });

  test('link text is not a citation, and links do not nest', () => {
    expect(links(draw('[call 1.1.1](https://evil.example)'))).toEqual([['call 1.1.1', 'https://evil.example']]);
    expect(links(draw('[a [call 1.1.1]](https://evil.example)'))).toEqual([['a [call 1.1.1]', 'https://evil.example']]);
  });

  test('a definition does not turn a citation into an external link', () => {
    expect(links(draw('so [call 1.1.1] it is\n\n[call 1.1.1]: https://evil.example'))).toEqual([
      ['1.1.1', '/sessions/the-session?call=1.1.1'],
    ]);
  });

  test('citations work in lists, tables and quotes', () => {
    const body = draw('- a [call 1.1.1]\n\n> b [call 1.1.2]\n\n| c |\n|---|\n| [call 1.1.1] |');
    expect(links(body).map(([call]) => call)).toEqual(['1.1.1', '1.1.2', '1.1.1']);
  });
});

test('unclosed Markdown is hidden while the text streams', () => {
  expect(draw('this is **very impor', { streaming: true }).textContent).toBe('this is very impor');
  expect(draw('see [the docs](https://docs.exa', { streaming: true }).querySelector('a')).toBeNull();
});

test('a task list shows its state without checkboxes', () => {
  const body = draw('- [x] a\n- [ ] b');
  expect(body.querySelector('input')).toBeNull();
  expect([...body.querySelectorAll('[role=img]')].map((box) => box.getAttribute('aria-label'))).toEqual([
    'done',
    'not done',
  ]);
});
