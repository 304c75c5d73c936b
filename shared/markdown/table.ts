import type { MarkdownIt, RendererRule } from 'markdown-it';

/** Tables as the parser makes them, but with the alignment spelled as clients compare it: `text-align: left;`. */
export function tables(markdown: MarkdownIt): void {
  const cell: RendererRule = (tokens, index, options, _env, renderer) => {
    const style = tokens[index]?.attrGet('style');
    if (style) tokens[index]?.attrSet('style', `${String(style).replace(':', ': ')};`);
    return renderer.renderToken(tokens, index, options);
  };
  markdown.renderer.rules.th_open = cell;
  markdown.renderer.rules.td_open = cell;
}
