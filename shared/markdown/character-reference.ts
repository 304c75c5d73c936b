import type { MarkdownIt, StateInline } from 'markdown-it';

const REFERENCE = /&(?:#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z][a-z0-9]{1,31});/iy;

function referenceRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== '&') return false;
  REFERENCE.lastIndex = state.pos;
  const match = REFERENCE.exec(state.src);
  if (!match || state.pos + match[0].length > state.posMax) return false;
  if (!silent) state.push('character_reference', '', 0).content = match[0];
  state.pos += match[0].length;
  return true;
}

/**
 * `&copy;` and `&#169;` are handed on for the reader's browser to decode, as Zulip does. In text a character
 * reference is always text, so this is safe; and the table of two thousand names need not be in our bundle.
 */
export function characterReferences(markdown: MarkdownIt): void {
  markdown.inline.ruler.at('entity', referenceRule);
  markdown.renderer.rules.character_reference = (tokens, index) => tokens[index]?.content ?? '';
}
