import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Snippet } from './row';

test('a snippet marks the matches and shows hostile text as text', () => {
  const html = renderToStaticMarkup(
    <Snippet
      parts={[
        { text: '… <script>alert(1)</script> ', match: false },
        { text: 'checkout-7d9f', match: true },
        { text: ' failed', match: false },
      ]}
    />,
  );
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html).not.toContain('<script');
  expect(html).toMatch(/<mark[^>]*>checkout-7d9f<\/mark><span> failed<\/span>/);
});
