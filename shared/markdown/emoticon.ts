import type { Env, MarkdownIt, StateCore, Token } from 'markdown-it';
import { emojiName } from './emoji-table.ts';

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
