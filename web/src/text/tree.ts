/**
 * Restricts what untrusted Markdown can produce. A remark plugin that walks the tree once: it turns HTML, images and
 * footnotes into text (the ids of footnotes would clash between the texts of a page), and citations of tool calls into
 * elements. It does not know the session: the component of a citation looks up which calls exist.
 */
import { pieces } from './citation';

/** The relevant part of mdast's nodes. */
interface Node {
  type: string;
  value?: string;
  alt?: string | null;
  url?: string;
  identifier?: string;
  label?: string | null;
  referenceType?: string;
  children?: Node[];
  data?: { hName: string; hProperties: Record<string, string> };
}

/** The element of a citation, which Markdown itself never produces. */
export const citationElement = 'cite';

/** Nodes whose children are blocks: text in them needs its own paragraph. */
const blockContainers = new Set(['root', 'blockquote', 'list', 'listItem', 'footnoteDefinition']);

/** The deepest tree allowed: rendering recurses once per level. */
const deepest = 64;

export function restrict() {
  return (tree: Node): void => {
    const addresses = new Map<string, string>();
    collect(tree, addresses);
    walk(tree, { addresses, inLink: false, depth: 0 });
  };
}

interface Place {
  addresses: Map<string, string>;
  inLink: boolean;
  depth: number;
}

function collect(node: Node, addresses: Map<string, string>): void {
  if (node.type === 'definition' && node.identifier && !addresses.has(node.identifier)) {
    addresses.set(node.identifier, node.url ?? '');
  }
  if (!blockContainers.has(node.type)) return;
  for (const child of node.children ?? []) collect(child, addresses);
}

function walk(node: Node, place: Place): void {
  if (!node.children) return;
  if (place.depth > deepest) {
    node.children = [text(words(node))];
    return;
  }
  const inLink = place.inLink || node.type === 'link' || node.type === 'linkReference';
  const blocks = blockContainers.has(node.type);
  const inside = { ...place, inLink, depth: place.depth + 1 };
  node.children = node.children.flatMap((child) => replace(child, inside, blocks));
}

/** Returns all words of a tree, without recursion. */
function words(node: Node): string {
  let found = '';
  const waiting = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    found += next.value ?? '';
    for (const child of [...(next.children ?? [])].reverse()) waiting.push(child);
  }
  return found;
}

function replace(child: Node, place: Place, block: boolean): Node[] {
  switch (child.type) {
    case 'text':
      return place.inLink ? [child] : cited(child.value ?? '');
    case 'html': {
      const nodes = place.inLink ? [text(child.value ?? '')] : cited(child.value ?? '');
      return block ? [{ type: 'paragraph', children: nodes }] : nodes;
    }
    case 'image':
      return [text(imageText(child.alt, child.url))];
    case 'imageReference':
      return [text(imageText(child.alt, place.addresses.get(child.identifier ?? '')))];
    case 'footnoteReference':
      return [text(`[^${child.label ?? child.identifier ?? ''}]`)];
    case 'footnoteDefinition':
      walk(child, place);
      return [
        { type: 'paragraph', children: [text(`[^${child.label ?? child.identifier ?? ''}]:`)] },
        ...(child.children ?? []),
      ];
    case 'linkReference': {
      // A definition must not turn a citation into an external link.
      const marked = child.referenceType === 'shortcut' ? cited(`[${child.label ?? ''}]`) : [];
      if (marked.some(isCitation)) return marked;
      break;
    }
  }
  walk(child, place);
  return [child];
}

function text(value: string): Node {
  return { type: 'text', value };
}

function imageText(alt: string | null | undefined, url: string | undefined): string {
  return alt && url ? `${alt} (${url})` : alt || url || '';
}

function cited(value: string): Node[] {
  return pieces(value).flatMap((piece) => ('words' in piece ? [text(piece.words)] : piece.calls.map(citation)));
}

function citation(call: string): Node {
  return {
    type: 'citation',
    data: { hName: citationElement, hProperties: { dataCall: call } },
    children: [text(call)],
  };
}

function isCitation(node: Node): boolean {
  return node.type === 'citation';
}

/** Longer texts are not parsed, because that would block the page. */
export const longest = 100_000;

const mostMarks = 1500;
/** The longest prefix of quote and list markers in a line. */
const longestHead = 96;
const nesting = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;

/**
 * Reports whether a text can be parsed quickly as Markdown. Parsers take quadratic time for unmatched brackets and
 * stars, and overflow on deeply nested quotes; no text written for readers looks like that.
 */
export function parseable(source: string): boolean {
  if (source.length > longest) return false;
  // Markers pair up within a paragraph or a table row.
  return source.split(/\n[ \t]*\n|\n(?=\|)/).every((paragraph) => {
    if ((paragraph.match(/[[\]]|[*_~`]+/g)?.length ?? 0) > mostMarks) return false;
    return paragraph.split('\n').every((line) => (nesting.exec(line)?.[0].length ?? 0) <= longestHead);
  });
}
