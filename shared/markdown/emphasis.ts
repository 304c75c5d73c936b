import type { MarkdownIt, StateInline } from 'markdown-it';

/** People write `__init__` and `snake_case` in chats, so underscores never emphasize; only asterisks do. */
function underscoreRule(state: StateInline, silent: boolean): boolean {
  let end = state.pos;
  while (end < state.posMax && state.src.charAt(end) === '_') end += 1;
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** `*emphasis*`, `**strong**` and `~~deleted~~`. */
export function emphasis(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('emphasis', 'underscore', underscoreRule);
  markdown.renderer.rules.s_open = () => '<del>';
  markdown.renderer.rules.s_close = () => '</del>';
}
