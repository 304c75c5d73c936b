/*
 * What changed between two versions of a message, as HTML (companion facts 1.17).
 *
 * The result is the new version in a `div`. New words are in a span; removed words are in a span of their own, where
 * they were. Removed tags are left out, so that every tag that is opened is closed.
 */

/** A tag, or a word with the space behind it. Spaces between tags count as tags: they are kept and never marked. */
interface Token {
  readonly html: string;
  /** Two tokens with the same id are equal. The space after a word is not part of it. */
  readonly id: string;
  readonly isWord: boolean;
}

/** An image counts as a word. */
const TOKEN = /<img\b[^>]*>\s*|<[^>]*>|[^<\s]+\s*|\s+/g;

/** `render` escapes brackets in attribute values. */
const tokensOf = (html: string): Token[] =>
  [...html.matchAll(TOKEN)].map(([text]) => {
    const id = text.trimEnd();
    return { html: text, id, isWord: id !== '' && (!id.startsWith('<') || id.startsWith('<img')) };
  });

/** Most pairs of tokens to compare. In a longer change, everything between its ends counts as new. */
const MAX_PAIRS = 250_000;

/** Removed tokens, and those that replace them. */
interface Hunk {
  readonly gone: readonly Token[];
  readonly come: readonly Token[];
  /** The unchanged tokens that follow. */
  readonly kept: readonly Token[];
}

/**
 * Marks the changes from one version of a message to the next. Both must be HTML from `render`. The work is bounded: it
 * grows with the versions, and with the change up to about 500 words.
 */
export function htmlDiff(before: string, after: string): string {
  return `<div>${hunksOf(tokensOf(before), tokensOf(after)).map(shown).join('')}</div>`;
}

/** The changes of one list to another, in order. The first one may be empty. */
function hunksOf(a: readonly Token[], b: readonly Token[]): Hunk[] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start]?.id === b[start]?.id) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end)?.id === b.at(-1 - end)?.id) end += 1;
  const [gone, come] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const hunks: Hunk[] = [{ gone: [], come: [], kept: b.slice(0, start) }];
  let [from, to] = [0, 0];
  for (const [i, j] of commonPairs(gone, come)) {
    hunks.push({ gone: gone.slice(from, i), come: come.slice(to, j), kept: come.slice(j, j + 1) });
    [from, to] = [i + 1, j + 1];
  }
  return [...hunks, { gone: gone.slice(from), come: come.slice(to), kept: b.slice(b.length - end) }];
}

/** The positions of a longest common subsequence of two lists; none if they are too long. */
function commonPairs(a: readonly Token[], b: readonly Token[]): [number, number][] {
  if (a.length * b.length > MAX_PAIRS) return [];
  const width = b.length + 1;
  // The length of the longest common subsequence of both tails, for each pair of positions.
  const longest = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i]?.id === b[j]?.id ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i]?.id === b[j]?.id) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** The new words, the removed words after the first of them, and the unchanged tokens. */
function shown({ gone, come, kept }: Hunk): string {
  const firstTag = come.findIndex(({ isWord }) => !isWord);
  const [first, rest] = firstTag < 0 ? [come, []] : [come.slice(0, firstTag), come.slice(firstTag)];
  return [marked(htmlOf(first), 'inserted'), deletedIn(gone), insertedIn(rest), htmlOf(kept)].join('');
}

/** The words of these tokens, marked, with a space in place of each tag between them. */
function deletedIn(tokens: readonly Token[]): string {
  const words = partsOf(tokens).flatMap((part) => (part[0]?.isWord ? [htmlOf(part)] : []));
  const html = words.map((each, i) => (i < words.length - 1 ? `${each.trimEnd()} ` : each)).join('');
  return marked(html, 'deleted');
}

/** Tags as they are, and the words between them marked. */
const insertedIn = (tokens: readonly Token[]): string =>
  partsOf(tokens)
    .map((part) => (part[0]?.isWord ? marked(htmlOf(part), 'inserted') : htmlOf(part)))
    .join('');

/** Groups consecutive words, and consecutive tags. */
function partsOf(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [];
  for (const token of tokens) {
    const last = parts.at(-1);
    if (last?.[0]?.isWord === token.isWord) last.push(token);
    else parts.push([token]);
  }
  return parts;
}

/** Words in a span, without the space after them. */
function marked(html: string, as: 'inserted' | 'deleted'): string {
  const text = html.trimEnd();
  if (text === '') return '';
  return `<span class="highlight_text_${as}">${text}</span>${html.slice(text.length)}`;
}

const htmlOf = (tokens: readonly Token[]): string => tokens.map(({ html }) => html).join('');
