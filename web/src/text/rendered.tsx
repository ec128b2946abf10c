/**
 * Renders texts of models and tools as Markdown. They are untrusted: no HTML, no images, links only to http and https,
 * and nothing is fetched. All headings are one level below a card's, so that no text can break the page's outline.
 */
import { Link, useRouter } from '@tanstack/react-router';
import { type ComponentProps, createContext, memo, useContext, useMemo } from 'react';
import { type Components, defaultRemarkPlugins, type ExtraProps, Streamdown } from 'streamdown';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { openEvidence } from './evidence';
import { SafeLink } from './link';
import type { Calls, MarkdownProps } from './markdown';
import { citationElement, longest, parseable, restrict } from './tree';
import { visible } from './visible';

// Streamdown caches parsers by the names of their plugins, so what differs between texts is passed through a context.
const CallsContext = createContext<Calls>({});

type Props<Name extends keyof React.JSX.IntrinsicElements> = ComponentProps<Name> & ExtraProps;

function Heading({ node, children }: Props<'h3'>) {
  const size = node?.tagName === 'h1' || node?.tagName === 'h2' ? 'text-base' : 'text-sm';
  return <h3 className={cn('mt-4 mb-1.5 font-semibold text-ink', size)}>{children}</h3>;
}

function Call({ node }: Props<'cite'>) {
  const { sessionId, calls } = useContext(CallsContext);
  const call = String(node?.properties?.dataCall ?? '');
  const event = calls?.get(call);
  const router = useRouter();
  const look =
    'mx-0.5 inline-flex h-5 min-w-6 items-center justify-center rounded border px-1 font-mono text-xs no-underline';
  // Without the session's calls, for example in a standalone text, a citation is only its number.
  if (!calls) return <span className={cn(look, 'border-line text-ink-soft')}>{call}</span>;
  if (!event || !sessionId) {
    return (
      <span className={cn(look, 'border-warn/50 text-warn')} title="No such tool call in this session">
        <s>{call}</s>
        <span className="sr-only"> (no such tool call in this session)</span>
      </span>
    );
  }
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId }}
      search={{ call }}
      preload={false}
      onClick={(event) => openEvidence(event, router, sessionId, call)}
      data-citation={call}
      aria-label={`Tool call ${call}`}
      title={`Evidence: tool call ${call}`}
      className={cn(look, 'border-accent/40 bg-accent-soft text-accent hover:border-accent')}
    >
      {call}
    </Link>
  );
}

function textOf(node: unknown): string {
  if (typeof node !== 'object' || node === null) return '';
  if ('value' in node && typeof node.value === 'string') return node.value;
  return 'children' in node && Array.isArray(node.children) ? node.children.map(textOf).join('') : '';
}

function CodeBlock({ node }: Props<'pre'>) {
  const code = textOf(node).replace(/\n$/, '');
  return (
    <div className="group relative my-3">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className="overflow-x-auto rounded-md border border-line bg-sunken p-3 pr-10 font-mono text-xs" tabIndex={0}>
        <code>{code}</code>
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-sunken">
        <CopyButton text={code} label="Copy code" />
      </div>
    </div>
  );
}

function ScrollingTable({ children }: Props<'table'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div className="my-3 overflow-x-auto rounded-md border border-line" role="group" aria-label="Table" tabIndex={0}>
      <table className="w-full border-collapse text-left text-[13px]">{children}</table>
    </div>
  );
}

function HeaderCell({ node, children, style }: Props<'th'>) {
  const look = 'border-b border-line bg-sunken px-3 py-1.5 font-semibold';
  // An empty header names nothing, so it is an ordinary cell for screen readers.
  if (node?.children.length === 0) return <td className={look} />;
  return (
    <th scope="col" className={look} style={style}>
      {children}
    </th>
  );
}

/** The read-only checkbox of a task list. */
function TaskBox({ checked }: Props<'input'>) {
  return (
    <span role="img" aria-label={checked ? 'done' : 'not done'} className="mr-1.5">
      {checked ? '☑' : '☐'}
    </span>
  );
}

const components: Components = {
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  p: ({ children }: Props<'p'>) => <p className="my-2">{children}</p>,
  a: ({ href, children }: Props<'a'>) => <SafeLink href={href}>{children}</SafeLink>,
  [citationElement]: Call,
  // The plugin removes all images; if one got through anyway, it would not be fetched.
  img: ({ alt }: Props<'img'>) => <span>{alt}</span>,
  pre: CodeBlock,
  code: ({ children }: Props<'code'>) => (
    <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.9em]">{children}</code>
  ),
  ul: ({ children }: Props<'ul'>) => <ul className="my-2 list-disc space-y-1 pl-5">{children}</ul>,
  ol: ({ children, start }: Props<'ol'>) => (
    <ol className="my-2 list-decimal space-y-1 pl-6" start={start}>
      {children}
    </ol>
  ),
  li: ({ children }: Props<'li'>) => <li className="[&>p]:my-1">{children}</li>,
  blockquote: ({ children }: Props<'blockquote'>) => (
    <blockquote className="my-2 border-l-2 border-line-strong pl-3 text-ink-soft">{children}</blockquote>
  ),
  hr: () => <hr className="my-4 border-line" />,
  strong: ({ children }: Props<'strong'>) => <strong className="font-semibold">{children}</strong>,
  table: ScrollingTable,
  thead: ({ children }: Props<'thead'>) => <thead>{children}</thead>,
  tbody: ({ children }: Props<'tbody'>) => <tbody>{children}</tbody>,
  tr: ({ children }: Props<'tr'>) => <tr className="border-line [&:not(:last-child)]:border-b">{children}</tr>,
  th: HeaderCell,
  td: ({ children, style }: Props<'td'>) => (
    <td className="px-3 py-1.5 align-top" style={style}>
      {children}
    </td>
  ),
  input: TaskBox,
};

const elements = [...Object.keys(components), 'em', 'del', 'br'];

const remarkPlugins = [defaultRemarkPlugins.gfm, restrict].filter((plugin) => plugin !== undefined);
const noPlugins: [] = [];
const remend = { linkMode: 'text-only', images: false, htmlTags: false, katex: false } as const;
const whole = (source: string) => [source];

/**
 * Renders a text. With `streaming`, unclosed syntax at the end is rendered as if it were closed, and each new piece
 * re-renders only the last block.
 */
export const RenderedMarkdown = memo(function RenderedMarkdown({
  text,
  streaming = false,
  calls,
  sessionId,
  className,
}: MarkdownProps) {
  const context = useMemo(() => ({ calls, sessionId }), [calls, sessionId]);
  const source = useMemo(() => visible(text.replaceAll('\0', '')), [text]);
  const plain = useMemo(() => !parseable(source), [source]);
  const look = cn('break-words [overflow-wrap:anywhere] [&>*:first-child]:mt-0 [&>*:last-child]:mb-0', className);
  if (plain) {
    return (
      <div className={look}>
        <PlainText text={source} />
      </div>
    );
  }
  return (
    <CallsContext value={context}>
      <Streamdown
        className={cn('space-y-0', look)}
        mode={streaming ? 'streaming' : 'static'}
        isAnimating={streaming}
        parseMarkdownIntoBlocksFn={streaming ? undefined : whole}
        remarkPlugins={remarkPlugins}
        rehypePlugins={noPlugins}
        remend={remend}
        components={components}
        allowedElements={elements}
        unwrapDisallowed
        controls={false}
      >
        {source}
      </Streamdown>
    </CallsContext>
  );
});

/** A text too long or too complex to parse, unformatted. */
function PlainText({ text }: { text: string }) {
  const most = 5 * longest;
  return (
    <>
      <p className="mb-2 text-xs text-ink-soft">
        Shown as plain text because it is too long or too deeply nested to format.
      </p>
      <pre className="font-mono text-xs whitespace-pre-wrap">{text.slice(0, most)}</pre>
      {text.length > most && (
        <p className="mt-2 text-xs text-ink-soft">
          {(text.length - most).toLocaleString()} more characters are not shown. Export the session to read them.
        </p>
      )}
    </>
  );
}
