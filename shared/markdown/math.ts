import type { MarkdownIt, StateInline } from 'markdown-it';

const MATH = /\$\$([^\n$_][^\n$]*)\$\$(?!\$)/y;

function mathRule(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  if (src.charAt(pos) !== '$' || src.charAt(pos - 1) === '$') return false;
  MATH.lastIndex = pos;
  const match = MATH.exec(src);
  if (!match || pos + match[0].length > state.posMax) return false;
  if (!silent) state.push('math', 'code', 0).content = match[1] ?? '';
  state.pos += match[0].length;
  return true;
}

/**
 * `$$x^2$$` is shown as its source, as code: typesetting formulas takes more code than all the rest of the service.
 * The element carries no class, because strict clients do not know code with one.
 */
export function math(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('emphasis', 'math', mathRule);
  markdown.renderer.rules.math = (tokens, index) =>
    `<code>${markdown.utils.escapeHtml(tokens[index]?.content ?? '')}</code>`;
}
