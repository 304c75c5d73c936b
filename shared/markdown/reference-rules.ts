import type { Env, MarkdownIt, StateCore, StateInline, Token } from 'markdown-it';
import { isSafeAddress } from './address.ts';
import { emojiCode, emojiName } from './emoji-table.ts';
import { type Formulas, formulasOf } from './formula.ts';
import { emoticons, matchHere } from './inline.ts';
import {
  CHANNEL_WILDCARDS,
  channelNames,
  isName,
  NOTHING_RESOLVED,
  type ResolvedChannel,
  type ResolvedReferences,
  TOPIC_WILDCARDS,
  TOPIC_WITH_MESSAGE,
  userName,
} from './references.ts';

const RESOLVED = Symbol('resolved references');
const FORMULAS = Symbol('formulas');

/** The parser's environment, which hands the resolved references to the rules. */
export const envWith = (resolved: ResolvedReferences): Env => ({
  [RESOLVED]: resolved,
  [FORMULAS]: resolved.typesetter && formulasOf(resolved.typesetter),
});

/** The resolved references of the text that is being parsed. */
export const resolvedIn = (env: Env): ResolvedReferences =>
  (env[RESOLVED] as ResolvedReferences | undefined) ?? NOTHING_RESOLVED;

/** The formulas of the text that is being rendered; undefined if they cannot be set. */
export const formulasIn = (env: Env): Formulas | undefined => env[FORMULAS] as Formulas | undefined;

/** Whether a mention or a link may begin here: `me@**x**` and `a#**x**` are plain text (wire facts 3.7). */
const mayBegin = ({ src, pos }: StateInline): boolean => pos === 0 || /[\s'"({[/<]/.test(src.charAt(pos - 1));

/** One mention in a text. */
export interface Mention {
  readonly kind: 'user' | 'group' | 'channelWildcard' | 'topicWildcard';
  /** The ID of the user or the group; 0 for wildcards. */
  readonly id: number;
  readonly name: string;
  /** A silent mention shows the name and notifies nobody. */
  silent: boolean;
}

const USER = /@(_?)\*\*([^*\n]+)\*\*/y;
const GROUP = /@(_?)\*([^*\n]+)\*/y;

function userMention(state: StateInline, text: string, silent: boolean): Mention | undefined {
  if (CHANNEL_WILDCARDS.has(text)) return { kind: 'channelWildcard', id: 0, name: text, silent };
  if (TOPIC_WILDCARDS.has(text)) return { kind: 'topicWildcard', id: 0, name: text, silent };
  const parsed = userName(text);
  if (!parsed) return undefined;
  const { usersById, usersByName } = resolvedIn(state.env);
  const user = parsed.id === undefined ? usersByName.get(parsed.name ?? '') : usersById.get(parsed.id);
  // If the text has both, the user with the ID must have that name. Otherwise the text was edited or forged.
  const isOther = parsed.id !== undefined && parsed.name !== undefined && parsed.name !== user?.fullName;
  return user && !isOther ? { kind: 'user', id: user.id, name: user.fullName, silent } : undefined;
}

function groupMention(state: StateInline, text: string, silent: boolean): Mention | undefined {
  const group = isName(text) ? resolvedIn(state.env).groups.get(text) : undefined;
  return group && { kind: 'group', id: group.id, name: group.name, silent };
}

function mentionRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== '@' || !mayBegin(state)) return false;
  for (const [pattern, resolve] of [[USER, userMention] as const, [GROUP, groupMention] as const]) {
    const match = matchHere(state, pattern);
    const mention = match && resolve(state, match[2] ?? '', match[1] === '_');
    if (!mention) continue;
    if (!silent) state.push('mention', 'span', 0).meta = { mention };
    state.pos += match[0].length;
    return true;
  }
  return false;
}

/** The mention that a token stands for, if any. */
export const mentionIn = (token: Token): Mention | undefined => token.meta?.mention as Mention | undefined;

/** Makes mentions in quotes silent: a quote must not notify the people in it again. */
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

const CHANNEL = /#\*\*([^*\n]+)\*\*/y;

/** A link to a channel, to a topic in it, or to one message of the topic. */
interface ChannelLink {
  readonly channel: ResolvedChannel;
  readonly topic?: string;
  readonly messageId?: string;
}

function channelLink(state: StateInline, text: string): ChannelLink | undefined {
  const { channels } = resolvedIn(state.env);
  for (const name of channelNames(text)) {
    const channel = channels.get(name);
    if (!channel) continue;
    if (name === text) return { channel };
    const rest = text.slice(name.length + 1);
    const [, topic, messageId] = TOPIC_WITH_MESSAGE.exec(rest) ?? [];
    return messageId === undefined ? { channel, topic: rest } : { channel, topic: topic ?? '', messageId };
  }
  return undefined;
}

function channelLinkRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charAt(state.pos) !== '#' || !mayBegin(state)) return false;
  const match = matchHere(state, CHANNEL);
  const link = match && channelLink(state, match[1] ?? '');
  if (!link) return false;
  if (!silent) state.push('channel_link', 'a', 0).meta = { link, inLink: state.linkLevel > 0 };
  state.pos += match[0].length;
  return true;
}

/** The text that a client shows for a link. */
function labelHtml({ channel, topic, messageId }: ChannelLink, escapeHtml: (text: string) => string): string {
  const name = `#${escapeHtml(channel.name)}`;
  if (topic === undefined) return name;
  // The empty topic has no name of its own; clients show this one (`realm_empty_topic_display_name`).
  const label = `${name} &gt; ${topic === '' ? '<em>general chat</em>' : escapeHtml(topic)}`;
  return messageId === undefined ? label : `${label} @ 💬`;
}

/**
 * Text as a part of a client's address: percent-encoded, then `%` becomes `.` (and `.` becomes `.2E`), because some
 * programs decode percent signs after the `#` and drop a dot at the end.
 */
function hashEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('.', '%2E')
    .replaceAll('%', '.');
}

function channelLinkHtml({ channel, topic, messageId }: ChannelLink, label: string): string {
  const path = `/#narrow/channel/${channel.id}-${hashEncoded(channel.name.replaceAll(' ', '-'))}`;
  if (topic === undefined) {
    return `<a class="stream" data-stream-id="${channel.id}" href="${path}">${label}</a>`;
  }
  const topicPath = `${path}/topic/${hashEncoded(topic)}`;
  if (messageId !== undefined) {
    return `<a class="message-link" href="${topicPath}/near/${messageId}">${label}</a>`;
  }
  // With the ID of a message, clients find the topic after it was renamed too.
  const newest = channel.newestByTopic?.get(topic);
  const address = newest === undefined ? topicPath : `${topicPath}/with/${newest}`;
  return `<a class="stream-topic" data-stream-id="${channel.id}" href="${address}">${label}</a>`;
}

/** Some names have letters beyond ASCII, like `piñata`. */
const EMOJI = /:([\p{Ll}\p{M}0-9_+-]{1,100}):/uy;
/** Custom emoji have names in ASCII only. */
const CUSTOM_NAME = /^[a-z0-9_+-]+$/;
/** A whole emoji character: any that are joined, known or not, or one of the standard (families, flags, keycaps). */
const CHARACTER =
  /\p{Extended_Pictographic}\p{EMod}?\uFE0F?(?:\u200D\p{Extended_Pictographic}\p{EMod}?\uFE0F?)+|\p{RGI_Emoji}/v;
const CHARACTERS = new RegExp(`(${CHARACTER.source})`, 'v');

function showBuiltIn(token: Token, name: string, code: string): void {
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

function showCustom(token: Token, name: string, sourceUrl: string): void {
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
  const match = matchHere(state, EMOJI);
  if (!match) return false;
  const name = match[1] ?? '';
  // A custom emoji wins over the built-in one of the same name (wire facts 11).
  const custom = CUSTOM_NAME.test(name) ? resolvedIn(state.env).emoji.get(name) : undefined;
  const source = custom && isSafeAddress(custom.sourceUrl) ? custom.sourceUrl : undefined;
  const code = source === undefined ? emojiCode(name) : undefined;
  if (source === undefined && code === undefined) return false;
  if (!silent) {
    const token = state.push('emoji', '', 0);
    if (source !== undefined) showCustom(token, name, source);
    else if (code !== undefined) showBuiltIn(token, name, code);
  }
  state.pos += match[0].length;
  return true;
}

/** Turns emoji characters into the same elements as their names, so that clients draw both alike. */
function emojiCharacters(state: StateCore): void {
  for (const block of state.tokens) {
    if (!block.children?.some((child) => child.type === 'text' && CHARACTER.test(child.content))) continue;
    block.children = block.children.flatMap((child) => {
      if (child.type !== 'text' || !CHARACTER.test(child.content)) return [child];
      return child.content.split(CHARACTERS).map((part) => {
        const points = [...part].map((c) => (c.codePointAt(0) ?? 0).toString(16).padStart(4, '0'));
        const code = points.filter((point) => point !== 'fe0f').join('-');
        const name = CHARACTER.test(part) ? emojiName(code) : undefined;
        const token = new state.Token(name === undefined ? 'text' : 'emoji', '', 0);
        token.level = child.level;
        if (name === undefined) token.content = part;
        else showBuiltIn(token, name, code);
        return token;
      });
    });
  }
}

/** Mentions of users, groups and wildcards; links to channels, topics and messages; emoji by name and by character. */
export function referenceRules(markdown: MarkdownIt): void {
  const { inline, core, renderer, utils } = markdown;
  inline.ruler.before('emphasis', 'mention', mentionRule);
  inline.ruler.before('emphasis', 'channel_link', channelLinkRule);
  inline.ruler.before('emphasis', 'emoji', emojiRule);
  core.ruler.after('inline', 'silence_quotes', silenceQuotes);
  core.ruler.push('emoji_characters', emojiCharacters);
  emoticons(markdown, (env) => resolvedIn(env).translatesFaces === true, showBuiltIn);
  renderer.rules.mention = (tokens, index) => {
    const mention = tokens[index] && mentionIn(tokens[index]);
    return mention ? mentionHtml(mention, utils.escapeHtml) : '';
  };
  renderer.rules.channel_link = (tokens, index) => {
    const { link, inLink } = (tokens[index]?.meta ?? {}) as { link?: ChannelLink; inLink?: boolean };
    if (!link) return '';
    const label = labelHtml(link, utils.escapeHtml);
    // HTML has no links within links.
    return inLink ? label : channelLinkHtml(link, label);
  };
  renderer.rules.emoji = (tokens, index) => {
    const token = tokens[index];
    if (!token) return '';
    const opening = `<${token.tag}${renderer.renderAttrs(token)}>`;
    return token.tag === 'img' ? opening : `${opening}${utils.escapeHtml(token.content)}</span>`;
  };
}
