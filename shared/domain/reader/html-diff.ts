/*
 * What changed between two versions of a message, as HTML (companion facts 1.17).
 *
 * The result is the new version, tag for tag, in a `div`: words that are new stand in a span, and words that are gone
 * stand in a span of their own where they were. Tags that are gone are left out, so that nothing is ever opened without
 * being closed.
 */

/** A tag, or a word with the space behind it. Spaces between tags count as tags: they are kept and never marked. */
interface Token {
  readonly html: string;
  /** What makes it the same as another one: the space behind a word does not. */
  readonly id: string;
  readonly isWord: boolean;
}

/** A picture is shown like a word. */
const TOKEN = /<img\b[^>]*>\s*|<[^>]*>|[^<\s]+\s*|\s+/g;

/** Our HTML has no bracket in a value of an attribute: it is escaped there. */
const tokensOf = (html: string): Token[] =>
  [...html.matchAll(TOKEN)].map(([text]) => {
    const id = text.trimEnd();
    return { html: text, id, isWord: id !== '' && (!id.startsWith('<') || id.startsWith('<img')) };
  });

/** Most pairs of tokens that are compared; of longer changes all that is between their ends counts as new. */
const MAX_PAIRS = 250_000;

/** Some tokens that are gone and those that came for them. */
interface Hunk {
  readonly gone: readonly Token[];
  readonly come: readonly Token[];
  /** What follows and stayed. */
  readonly kept: readonly Token[];
}

/**
 * Marks in a version of a message what is different from the version before. Both must be HTML that `render` made.
 * The work is bounded: it grows with the length of the versions, and with the length of the change up to some 500 words.
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

/** The positions of a longest common subsequence of two lists; none where they are too long to look for it. */
function commonPairs(a: readonly Token[], b: readonly Token[]): [number, number][] {
  if (a.length * b.length > MAX_PAIRS) return [];
  const width = b.length + 1;
  // How long the longest one of the ends of both lists is, from each pair of positions on.
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

/** The new words, the words that are gone behind the first of them, and what stayed. */
function shown({ gone, come, kept }: Hunk): string {
  const firstTag = come.findIndex(({ isWord }) => !isWord);
  const [first, rest] = firstTag < 0 ? [come, []] : [come.slice(0, firstTag), come.slice(firstTag)];
  return [marked(htmlOf(first), 'inserted'), deletedIn(gone), insertedIn(rest), htmlOf(kept)].join('');
}

/** The words of these tokens, marked; where a tag was between two of them is a space. */
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

/** Words that follow each other together, and so tags. */
function partsOf(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [];
  for (const token of tokens) {
    const last = parts.at(-1);
    if (last?.[0]?.isWord === token.isWord) last.push(token);
    else parts.push([token]);
  }
  return parts;
}

/** Words in a span that says what became of them; the space behind them is not in it. */
function marked(html: string, as: 'inserted' | 'deleted'): string {
  const text = html.trimEnd();
  if (text === '') return '';
  return `<span class="highlight_text_${as}">${text}</span>${html.slice(text.length)}`;
}

const htmlOf = (tokens: readonly Token[]): string => tokens.map(({ html }) => html).join('');
