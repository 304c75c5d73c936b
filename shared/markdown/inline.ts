import type { Delimiter, Env, MarkdownIt, StateCore, StateInline, Token } from 'markdown-it';
import { emojiName } from './emoji-table.ts';
import { ruleNamed } from './parser-rule.ts';

/** Matches a sticky pattern at the parser's position, within the text that it parses. */
export function matchHere(state: StateInline, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = state.pos;
  const match = pattern.exec(state.src);
  return match && state.pos + match[0].length <= state.posMax ? match : undefined;
}

/**
 * A rule that makes a token of text that matches a sticky pattern. The content is the first group of the pattern, or all
 * that matches.
 */
export const patternRule =
  (type: string, tag: string, pattern: RegExp) =>
  (state: StateInline, silent: boolean): boolean => {
    const match = matchHere(state, pattern);
    if (!match) return false;
    if (!silent) state.push(type, tag, 0).content = match[1] ?? match[0];
    state.pos += match[0].length;
    return true;
  };

/** People write `__init__` and `snake_case` in chats, so only asterisks emphasize, never underscores. */
function underscoreRule(state: StateInline, silent: boolean): boolean {
  let end = state.pos;
  while (end < state.posMax && state.src.charAt(end) === '_') end += 1;
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** How many of these marks cannot begin emphasis any more, since the line that they are in has ended. */
const ended = new WeakMap<Delimiter[], number>();

/** The end of a line is a line break, white space stays, and emphasis ends with the line. */
function newlineRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== '\n') return false;
  if (!silent) {
    const { delimiters } = state;
    for (const delimiter of delimiters.slice(ended.get(delimiters) ?? 0)) delimiter.open = false;
    ended.set(delimiters, delimiters.length);
    state.push('softbreak', 'br', 0);
  }
  state.pos += 1;
  return true;
}

const DELETION = /(?<!~)~~([^~\n]+)~~(?!~)/y;

/** `~~deleted~~`, with white space at its ends too. */
function deletionRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== '~') return false;
  const match = matchHere(state, DELETION);
  if (!match) return false;
  const end = state.pos + match[0].length;
  if (!silent) {
    const { posMax } = state;
    state.push('deletion_open', 'del', 1);
    state.pos += 2;
    state.posMax = end - 2;
    state.md.inline.tokenize(state);
    state.posMax = posMax;
    state.push('deletion_close', 'del', -1);
  }
  state.pos = end;
  return true;
}

/** Inline code shows every space between its marks; the parser's own rule drops one at each end. */
function withSpaces(rule: (state: StateInline, silent: boolean) => boolean) {
  return (state: StateInline, silent: boolean): boolean => {
    const start = state.pos;
    const before = state.tokens.length;
    const found = rule(state, silent);
    const token = state.tokens.length > before ? state.tokens.at(-1) : undefined;
    if (found && token?.type === 'code_inline')
      token.content = state.src.slice(start + token.markup.length, state.pos - token.markup.length);
    return found;
  };
}

/** Of `***both***` the strong element is the outer one. */
function putStrongOutside(state: StateCore): void {
  for (const block of state.tokens) {
    const children = block.children?.filter(({ type, content }) => type !== 'text' || content !== '');
    if (!children) continue;
    block.children = children;
    const open: number[] = [];
    let [lastOpen, lastClose] = [-1, -1];
    children.forEach((close, index) => {
      if (close.nesting === 1) open.push(index);
      if (close.nesting !== -1) return;
      const from = open.pop() ?? -1;
      const [outer, inner, innerClose] = [children[from], children[lastOpen], children[lastClose]];
      const isWhole = lastOpen === from + 1 && lastClose === index - 1;
      if (isWhole && outer?.type === 'em_open' && inner?.type === 'strong_open' && innerClose) {
        Object.assign(outer, { type: 'strong_open', tag: 'strong' });
        Object.assign(inner, { type: 'em_open', tag: 'em' });
        Object.assign(innerClose, { type: 'em_close', tag: 'em' });
        Object.assign(close, { type: 'strong_close', tag: 'strong' });
      }
      [lastOpen, lastClose] = [from, index];
    });
  }
}

const CHARACTER_REFERENCE = /&(?:#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z][a-z0-9]{1,31});/iy;

/**
 * Inline text: `**strong**`, `~~deleted~~`, code and character references. `&copy;` and `&#169;` are left for the
 * browser to decode, as Zulip does: in text they are always text, so this is safe, and the bundle needs no table of two
 * thousand names.
 */
export function inlineSyntax(markdown: MarkdownIt): void {
  const { inline, core, renderer } = markdown;
  inline.ruler.at('backticks', withSpaces(ruleNamed(inline.ruler, 'backticks')));
  inline.ruler.at('newline', newlineRule);
  inline.ruler.at('strikethrough', deletionRule);
  inline.ruler.before('emphasis', 'underscore', underscoreRule);
  inline.ruler.at('entity', patternRule('character_reference', '', CHARACTER_REFERENCE));
  core.ruler.after('inline', 'strong_outside', putStrongOutside);
  renderer.rules.character_reference = (tokens, index) => tokens[index]?.content ?? '';
}

/** The faces that people type, and the codes of their emoji. */
const FACES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ':)': '1f642',
    '(:': '1f642',
    ':(': '1f641',
    '<3': '2764',
    ':|': '1f610',
    ':/': '1f615',
    ';)': '1f609',
    ':D': '1f600',
    ':P': '1f61b',
    ':p': '1f61b',
    ':O': '1f62e',
    ':o': '1f62e',
  }),
);

/** A face stands apart from letters and digits. */
const FACE = /(?<![^\s.,;?!()[\]'"])(:[)(|/DPpOo]|\(:|<3|;\))(?![^\s.,;?!()[\]'"])/;

/** Whether a text may have faces; only then it matters whether its sender wants them translated. */
export const mayHaveFaces = (text: string): boolean => FACE.test(text);

/** Turns faces into emoji: `isOn` says whether the sender wants that, `show` makes the element. */
export function emoticons(
  markdown: MarkdownIt,
  isOn: (env: Env) => boolean,
  show: (token: Token, name: string, code: string) => void,
): void {
  markdown.core.ruler.push('emoticons', (state: StateCore) => {
    if (!isOn(state.env)) return;
    for (const block of state.tokens) {
      block.children =
        block.children?.flatMap((child) => {
          if (child.type !== 'text') return [child];
          return child.content.split(new RegExp(FACE, 'g')).map((part, index) => {
            const code = index % 2 === 1 ? FACES.get(part) : undefined;
            const name = code && emojiName(code);
            const token = new state.Token(name ? 'emoji' : 'text', '', 0);
            token.level = child.level;
            if (code && name) show(token, name, code);
            else token.content = part;
            return token;
          });
        }) ?? null;
    }
  });
}
