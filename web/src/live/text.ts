/**
 * The text of a streaming event, assembled from chunks, which can be missing, repeated or from a server that has lost
 * the session, and from the text that the server saved. All lengths are in UTF-16 units.
 */

export interface Chunk {
  delta: string;
  offset: number;
  fence: number;
}

interface Piece {
  offset: number;
  delta: string;
}

export interface Text {
  /** The text from its beginning to the first gap. */
  content: string;
  /** The known length of the text; if content is shorter, a part is missing. */
  length: number;
  /** The fence of the server that wrote the text. 0 until a chunk arrives: saved text has no fence. */
  fence: number;
  /** Pieces beyond the gap, in order. */
  ahead: readonly Piece[];
}

/** How many pieces can wait beyond a gap; adjacent pieces are merged. */
const mostAhead = 16;

export function savedText(content: string, length = content.length): Text {
  return { content, length: Math.max(length, content.length), fence: 0, ahead: [] };
}

export function isWhole(text: Text): boolean {
  return text.content.length >= text.length;
}

/** Adds a chunk. Returns the same text if it changes nothing. */
export function addChunk(text: Text, chunk: Chunk): Text {
  if (chunk.fence < text.fence) return text;
  let base = text;
  if (chunk.fence > text.fence) {
    const startsOver = text.fence > 0 || !agrees(text.content, chunk);
    base = startsOver ? { content: '', length: 0, fence: chunk.fence, ahead: [] } : { ...text, fence: chunk.fence };
  }
  const end = chunk.offset + chunk.delta.length;
  if (chunk.offset > base.content.length) {
    return { ...base, length: Math.max(base.length, end), ahead: keepAhead(base.ahead, chunk) };
  }
  if (end <= base.content.length) return base;
  return absorb({ ...base, content: base.content + chunk.delta.slice(base.content.length - chunk.offset) });
}

/**
 * Adds the text that the server saved, which is about a second old. It is used only if it continues ours and reaches
 * the pieces beyond the gap: otherwise it may come from a server that has lost the session, and a later request helps.
 */
export function addSaved(text: Text, saved: string): Text {
  if (saved.length <= text.content.length || !saved.startsWith(text.content)) return text;
  const [next] = text.ahead;
  if (next !== undefined && (saved.length < next.offset || !agrees(saved, next))) return text;
  // The saved text is the newest known, unless pieces wait beyond it.
  return absorb({ ...text, content: saved, length: next === undefined ? saved.length : text.length });
}

/** Reports whether a piece and the content are the same where they overlap. */
function agrees(content: string, piece: Piece): boolean {
  const known = content.slice(piece.offset, piece.offset + piece.delta.length);
  return piece.delta.startsWith(known);
}

/** Appends the waiting pieces that now join the content. */
function absorb(text: Text): Text {
  let content = text.content;
  let taken = 0;
  for (const piece of text.ahead) {
    if (piece.offset > content.length) break;
    content += piece.delta.slice(Math.min(piece.delta.length, content.length - piece.offset));
    taken++;
  }
  return { ...text, content, length: Math.max(text.length, content.length), ahead: text.ahead.slice(taken) };
}

function keepAhead(ahead: readonly Piece[], { offset, delta }: Piece): readonly Piece[] {
  const merged: Piece[] = [];
  for (const piece of [...ahead, { offset, delta }].sort((a, b) => a.offset - b.offset)) {
    const last = merged.at(-1);
    if (last === undefined || piece.offset > last.offset + last.delta.length) merged.push(piece);
    else if (piece.offset + piece.delta.length > last.offset + last.delta.length) {
      const joined = last.delta + piece.delta.slice(last.offset + last.delta.length - piece.offset);
      merged[merged.length - 1] = { offset: last.offset, delta: joined };
    }
  }
  return merged.slice(-mostAhead);
}
