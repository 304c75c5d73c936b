import type { MarkdownIt, StateInline } from 'markdown-it';
import { type FoundChannel, foundIn } from './found.ts';
import { isName } from './name.ts';

const LINK = /#\*\*([^*\n]+)\*\*/y;
/** As for mentions: in the middle of a word a `#` begins no link. */
const BEFORE = /[\s'"({[/<]/;

/** A link to a channel, to a topic in it, or to one message of the topic. */
interface ChannelLink {
  readonly channel: FoundChannel;
  readonly topic?: string;
  readonly messageId?: string;
}

/** What a client shows for a link, apart from the link itself. */
function labelHtml({ channel, topic, messageId }: ChannelLink, escapeHtml: (text: string) => string): string {
  const name = `#${escapeHtml(channel.name)}`;
  if (topic === undefined) return name;
  // The empty topic has no name of its own; clients show this one (`realm_empty_topic_display_name`).
  const label = `${name} &gt; ${topic === '' ? '<em>general chat</em>' : escapeHtml(topic)}`;
  return messageId === undefined ? label : `${label} @ 💬`;
}

/** The channel names that `#**...**` may mean, the likeliest first: names themselves may contain a `>`. */
export function channelNames(text: string): string[] {
  const cut = text.indexOf('>');
  return (cut > 0 ? [text.slice(0, cut), text] : [text]).filter(isName);
}

/** A topic that a link may lead to. */
export interface TopicName {
  readonly channel: string;
  readonly topic: string;
}

/** The topic that `#**...**` may lead to. A link to one message needs nothing of its topic. */
export function topicName(text: string): TopicName[] {
  const [channel, ...others] = channelNames(text);
  const topic = channel === undefined || others.length === 0 ? undefined : text.slice(channel.length + 1);
  return channel === undefined || topic === undefined || MESSAGE.test(topic) ? [] : [{ channel, topic }];
}

/** A topic with the ID of one of its messages. */
const MESSAGE = /^(.*)@(\d{1,15})$/;

function channelLink(state: StateInline, text: string): ChannelLink | undefined {
  const { channels } = foundIn(state.env);
  for (const name of channelNames(text)) {
    const channel = channels.get(name);
    if (!channel) continue;
    if (name === text) return { channel };
    const rest = text.slice(name.length + 1);
    const toMessage = MESSAGE.exec(rest);
    return toMessage
      ? { channel, topic: toMessage[1] ?? '', messageId: toMessage[2] ?? '' }
      : { channel, topic: rest };
  }
  return undefined;
}

/**
 * Text as a part of a client's address: percent-encoded, with the percent sign and the dot exchanged, because some
 * programs decode percent signs after the `#` and cut off a dot at the end.
 */
function hashEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('.', '%2E')
    .replaceAll('%', '.');
}

/** The address of a channel in a client, as a path on this server. */
const channelPath = (channel: FoundChannel): string =>
  `/#narrow/channel/${channel.id}-${hashEncoded(channel.name.replaceAll(' ', '-'))}`;

function channelLinkHtml({ channel, topic, messageId }: ChannelLink, label: string): string {
  const path = channelPath(channel);
  if (topic === undefined) {
    return `<a class="stream" data-stream-id="${channel.id}" href="${path}">${label}</a>`;
  }
  const topicPath = `${path}/topic/${hashEncoded(topic)}`;
  if (messageId !== undefined) {
    return `<a class="message-link" href="${topicPath}/near/${messageId}">${label}</a>`;
  }
  // By a message of it, clients find the topic under another name too.
  const newest = channel.newestIn?.get(topic);
  const address = newest === undefined ? topicPath : `${topicPath}/with/${newest}`;
  return `<a class="stream-topic" data-stream-id="${channel.id}" href="${address}">${label}</a>`;
}

function channelLinkRule(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  if (src.charAt(pos) !== '#' || (pos > 0 && !BEFORE.test(src.charAt(pos - 1)))) return false;
  LINK.lastIndex = pos;
  const match = LINK.exec(src);
  if (!match || pos + match[0].length > state.posMax) return false;
  const link = channelLink(state, match[1] ?? '');
  if (!link) return false;
  if (!silent) state.push('channel_link', 'a', 0).meta = { link, inLink: state.linkLevel > 0 };
  state.pos += match[0].length;
  return true;
}

/** `#**channel**`, `#**channel>topic**` and `#**channel>topic@message**`. */
export function channelLinks(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('emphasis', 'channel_link', channelLinkRule);
  markdown.renderer.rules.channel_link = (tokens, index) => {
    const meta = tokens[index]?.meta;
    const link = meta?.link as ChannelLink | undefined;
    if (!link) return '';
    const label = labelHtml(link, markdown.utils.escapeHtml);
    // A link within a link is no HTML.
    return meta?.inLink ? label : channelLinkHtml(link, label);
  };
}
