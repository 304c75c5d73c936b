import type { MarkdownIt, StateCore, StateInline, Token } from 'markdown-it';
import { emojiCode, emojiName } from './emoji-table.ts';
import { foundIn } from './found.ts';
import { isSafeAddress } from './link.ts';

/** Some names have letters beyond ASCII, like `piñata`. */
const NAME = /:([\p{Ll}\p{M}0-9_+-]{1,100}):/uy;
/** Custom emoji have names in ASCII only. */
const CUSTOM_NAME = /^[a-z0-9_+-]+$/;
/** Whole pictures, the joined ones (families, flags, keycaps) included. */
const PICTURE = /\p{RGI_Emoji}/v;
const PICTURES = /(\p{RGI_Emoji})/v;

function builtIn(token: Token, name: string, code: string): void {
  const title = name.replaceAll('_', ' ');
  token.tag = 'span';
  token.content = `:${name}:`;
  token.attrs = [
    ['aria-label', title],
    ['class', `emoji emoji-${code}`],
    ['role', 'img'],
    ['title', title],
  ];
}

function custom(token: Token, name: string, sourceUrl: string): void {
  token.tag = 'img';
  token.attrs = [
    ['alt', `:${name}:`],
    ['class', 'emoji'],
    ['src', sourceUrl],
    ['title', name.replaceAll('_', ' ')],
  ];
}

function emojiRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== ':') return false;
  NAME.lastIndex = state.pos;
  const match = NAME.exec(state.src);
  if (!match || state.pos + match[0].length > state.posMax) return false;
  const name = match[1] ?? '';
  // An organization's own emoji wins over the built-in one of the same name (wire facts 11).
  const own = CUSTOM_NAME.test(name) ? foundIn(state.env).emoji.get(name) : undefined;
  const source = own && isSafeAddress(own.sourceUrl) ? own.sourceUrl : undefined;
  const code = source === undefined ? emojiCode(name) : undefined;
  if (source === undefined && code === undefined) return false;
  if (!silent) {
    const token = state.push('emoji', '', 0);
    if (source !== undefined) custom(token, name, source);
    else if (code !== undefined) builtIn(token, name, code);
  }
  state.pos += match[0].length;
  return true;
}

/** Turns the emoji characters of a text into the same elements as their names, so that clients draw both alike. */
function pictures(state: StateCore): void {
  for (const block of state.tokens) {
    if (!block.children?.some((child) => child.type === 'text' && PICTURE.test(child.content))) continue;
    block.children = block.children.flatMap((child) => {
      if (child.type !== 'text' || !PICTURE.test(child.content)) return [child];
      return child.content.split(PICTURES).map((part) => {
        const code = [...part].map((c) => (c.codePointAt(0) ?? 0).toString(16).padStart(4, '0'));
        const plain = code.filter((point) => point !== 'fe0f').join('-');
        const name = PICTURE.test(part) ? emojiName(plain) : undefined;
        const token = new state.Token(name === undefined ? 'text' : 'emoji', '', 0);
        token.level = child.level;
        if (name === undefined) token.content = part;
        else builtIn(token, name, plain);
        return token;
      });
    });
  }
}

/** `:name:` for built-in and custom emoji, and emoji characters. */
export function emoji(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('emphasis', 'emoji', emojiRule);
  markdown.core.ruler.push('emoji_characters', pictures);
  markdown.renderer.rules.emoji = (tokens, index, _options, _env, renderer) => {
    const token = tokens[index];
    if (!token) return '';
    const opening = `<${token.tag}${renderer.renderAttrs(token)}>`;
    return token.tag === 'img' ? opening : `${opening}${markdown.utils.escapeHtml(token.content)}</span>`;
  };
}
