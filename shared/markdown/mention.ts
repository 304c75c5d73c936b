import type { MarkdownIt, StateCore, StateInline, Token } from 'markdown-it';
import { foundIn } from './found.ts';
import { isName } from './name.ts';

/** Whom one mention in a text means. */
export interface Mention {
  readonly kind: 'user' | 'group' | 'channelWildcard' | 'topicWildcard';
  /** Of the user or the group; 0 for wildcards, which have none. */
  readonly id: number;
  readonly name: string;
  /** A silent mention shows the name and notifies nobody. */
  silent: boolean;
}

/** The words that mean everybody in the channel (wire facts 3.7). */
export const CHANNEL_WILDCARDS: ReadonlySet<string> = new Set(['all', 'everyone', 'channel', 'stream']);
/** The word that means everybody who takes part in the topic (wire facts 3.7). */
export const TOPIC_WILDCARDS: ReadonlySet<string> = new Set(['topic']);

const USER = /@(_?)\*\*([^*\n]+)\*\*/y;
const GROUP = /@(_?)\*([^*\n]+)\*/y;
/** An `@` elsewhere belongs to an address or a handle: `me@**x**` is no mention (wire facts 3.7). */
const BEFORE = /[\s'"({[/<]/;

/** A person as a text names them: by name, by name and ID, or by ID alone (`@**|12**`). */
export interface UserName {
  readonly name?: string;
  readonly id?: number;
}

/** Reads what stands between the asterisks of `@**...**`; undefined when it cannot be anybody's name. */
export function userName(text: string): UserName | undefined {
  const withId = /^(.*)\|(\d{1,15})$/.exec(text);
  const name = withId ? withId[1] : text;
  if (name && !isName(name)) return undefined;
  if (withId) return { ...(name ? { name } : {}), id: Number(withId[2]) };
  return name ? { name } : undefined;
}

function userMention(state: StateInline, text: string, silent: boolean): Mention | undefined {
  if (CHANNEL_WILDCARDS.has(text)) return { kind: 'channelWildcard', id: 0, name: text, silent };
  if (TOPIC_WILDCARDS.has(text)) return { kind: 'topicWildcard', id: 0, name: text, silent };
  const named = userName(text);
  if (!named) return undefined;
  const { usersById, usersByName } = foundIn(state.env);
  const user = named.id === undefined ? usersByName.get(named.name ?? '') : usersById.get(named.id);
  // With both given, the ID must be of somebody who has that name: else the text was edited or forged.
  if (!user || (named.id !== undefined && named.name !== undefined && named.name !== user.fullName))
    return undefined;
  return { kind: 'user', id: user.id, name: user.fullName, silent };
}

function groupMention(state: StateInline, text: string, silent: boolean): Mention | undefined {
  const group = isName(text) ? foundIn(state.env).groups.get(text) : undefined;
  return group && { kind: 'group', id: group.id, name: group.name, silent };
}

function mentionRule(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  if (src.charAt(pos) !== '@' || (pos > 0 && !BEFORE.test(src.charAt(pos - 1)))) return false;
  for (const [pattern, meaning] of [[USER, userMention] as const, [GROUP, groupMention] as const]) {
    pattern.lastIndex = pos;
    const match = pattern.exec(src);
    if (!match || pos + match[0].length > state.posMax) continue;
    const mention = meaning(state, match[2] ?? '', match[1] === '_');
    if (!mention) continue;
    if (!silent) state.push('mention', 'span', 0).meta = { mention };
    state.pos += match[0].length;
    return true;
  }
  return false;
}

/** The mention that a token stands for, if any. */
export const mentionIn = (token: Token): Mention | undefined => token.meta?.mention as Mention | undefined;

/** Quoting somebody must not notify again the people whom they mentioned, so mentions in quotes become silent. */
function silenceQuotes(state: StateCore): void {
  let depth = 0;
  for (const token of state.tokens) {
    if (token.type === 'blockquote_open') depth += 1;
    else if (token.type === 'blockquote_close') depth -= 1;
    else if (depth > 0) {
      for (const child of token.children ?? []) {
        const mention = mentionIn(child);
        if (mention) mention.silent = true;
      }
    }
  }
}

function mentionHtml(mention: Mention, escapeHtml: (text: string) => string): string {
  const text = escapeHtml(mention.silent ? mention.name : `@${mention.name}`);
  const silent = mention.silent ? ' silent' : '';
  switch (mention.kind) {
    case 'user':
      return `<span class="user-mention${silent}" data-user-id="${mention.id}">${text}</span>`;
    case 'group':
      return `<span class="user-group-mention${silent}" data-user-group-id="${mention.id}">${text}</span>`;
    case 'channelWildcard':
      return `<span class="user-mention channel-wildcard-mention${silent}" data-user-id="*">${text}</span>`;
    case 'topicWildcard':
      return `<span class="topic-mention${silent}">${text}</span>`;
  }
}

/** Mentions of people, groups, everybody in the channel and everybody in the topic. */
export function mentions(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('emphasis', 'mention', mentionRule);
  markdown.core.ruler.after('inline', 'silence_quotes', silenceQuotes);
  markdown.renderer.rules.mention = (tokens, index) => {
    const mention = tokens[index] && mentionIn(tokens[index]);
    return mention ? mentionHtml(mention, markdown.utils.escapeHtml) : '';
  };
}
