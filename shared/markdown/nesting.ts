import type { MarkdownIt, StateBlock } from 'markdown-it';

/** How deep blocks may nest: a quote or a spoiler is one level, a list two. */
export const DEEPEST_NESTING = 20;

/**
 * Below the limit everything is a plain paragraph. The parser's own limit would drop the text there, and without any
 * limit a line of a thousand `>` would cost a thousand passes over the message and break clients that draw it.
 */
function tooDeepRule(state: StateBlock, line: number, endLine: number, silent: boolean): boolean {
  if (silent || state.level < DEEPEST_NESTING) return false;
  let next = line + 1;
  while (next < endLine && !state.isEmpty(next) && (state.sCount[next] ?? 0) >= state.blkIndent) next += 1;
  state.line = next;
  state.push('paragraph_open', 'p', 1).map = [line, next];
  const inline = state.push('inline', '', 0);
  inline.content = state.getLines(line, next, state.blkIndent, false).trim();
  inline.children = [];
  inline.map = [line, next];
  state.push('paragraph_close', 'p', -1);
  return true;
}

/** Limits how deep quotes, lists and spoilers nest. */
export function limitedNesting(markdown: MarkdownIt): void {
  markdown.block.ruler.before('table', 'too_deep', tooDeepRule);
}
