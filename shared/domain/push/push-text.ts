import { firstCodePoints } from '../../kernel/folding.ts';

/** Characters of a message that a notification shows. */
const SHOWN = 200;

/** Elements after which a line ends. */
const LINES = new Set([
  'p',
  'br',
  'li',
  'tr',
  'div',
  'pre',
  'blockquote',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
]);

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/**
 * What a notification shows of a message: its text as it reads when it is rendered, cut after 200 characters. What
 * its sender hid in a spoiler stays hidden.
 */
export function pushText(rendered: string): string {
  let text = '';
  /** How many elements of `div` are open inside the spoiler that is being left out. */
  let hidden = 0;
  for (const [token] of rendered.matchAll(/<[^>]*>|[^<]+/g)) {
    const [, closes, name = ''] = /^<(\/?)([a-z0-9]+)/i.exec(token) ?? [];
    if (hidden > 0) {
      if (name === 'div') hidden += closes ? -1 : 1;
    } else if (token.startsWith('<div class="spoiler-content"')) {
      hidden = 1;
      text += '(…)\n';
    } else if (name === 'img') {
      text += unescaped(/ alt="([^"]*)"/.exec(token)?.[1] ?? '');
    } else if (!token.startsWith('<')) {
      text += unescaped(token);
    } else if (LINES.has(name) && (closes || name === 'br')) {
      text += '\n';
    }
  }
  const lines = text
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{2,}/g, '\n')
    .trim();
  const shown = firstCodePoints(lines, SHOWN);
  return shown === lines ? lines : `${shown}…`;
}
