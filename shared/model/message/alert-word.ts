import { folded } from '../../kernel/text.ts';
import type { Message } from '../../log/message.ts';
import type { User } from '../user/user.ts';

/** A tree of words: the next character leads to the words that go on with it. */
interface Branch {
  readonly next: Map<string, Branch>;
  isEnd: boolean;
}

const newBranch = (): Branch => ({ next: new Map(), isEnd: false });

/** The trees of the lists that were read, so that one is made once for all messages of a reply. */
const trees = new WeakMap<readonly string[], Branch>();

function treeOf(words: readonly string[]): Branch {
  const known = trees.get(words);
  if (known) return known;
  const root = newBranch();
  for (const word of words) {
    let branch = root;
    for (const char of folded(word)) {
      const next = branch.next.get(char) ?? newBranch();
      branch.next.set(char, next);
      branch = next;
    }
    branch.isEnd = true;
  }
  trees.set(words, root);
  return root;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The text of a rendered message without code and addresses, which hold no alert words (companion facts 3.1). */
function wordsIn(rendered: string): string {
  let text = '';
  let code = 0;
  for (const [token] of rendered.matchAll(/<[^>]*>|[^<]+/g)) {
    if (token === '<code>' || token.startsWith('<code ')) code++;
    else if (token === '</code>') code--;
    else if (token.startsWith('<')) continue;
    else text += code > 0 ? ' ' : token;
  }
  return text
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/\S*/gi, ' ');
}

const isOfWord = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char);

/**
 * Whether the text of a message holds one of a user's alert words: in any case, and not inside a longer word. Decided with
 * the words of now, whenever the message is read: nothing is stored for it. Takes at most 100 steps for a character.
 */
export function hasAlertWord({ alertWords = [] }: Pick<User, 'alertWords'>, { rendered }: Message): boolean {
  if (alertWords.length === 0) return false;
  const root = treeOf(alertWords);
  const chars = [...folded(wordsIn(rendered))];
  return chars.some((_, start) => {
    if (isOfWord(chars[start - 1]) && isOfWord(chars[start])) return false;
    let branch: Branch | undefined = root;
    for (let at = start; branch !== undefined; at++) {
      if (branch.isEnd && !(isOfWord(chars[at - 1]) && isOfWord(chars[at]))) return true;
      branch = branch.next.get(chars[at] ?? '');
    }
    return false;
  });
}
