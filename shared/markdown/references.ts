import { isBuiltInEmoji } from './emoji-table.ts';
import { mayHaveFormulas, type Typesetter } from './formula.ts';
import { mayHaveFaces } from './inline.ts';
import type { Linkifiers } from './linkifier-engine.ts';

/** A user as a text names them: by name, by name and ID, or by ID alone (`@**|12**`). */
export interface UserName {
  readonly name?: string;
  readonly id?: number;
}

/** A topic that a text links to. */
export interface TopicName {
  readonly channel: string;
  readonly topic: string;
}

/** The names in one text that may refer to something, to be looked up in one batch. */
export interface References {
  /** By name, by name and ID, or by ID alone. If there is an ID, it decides. */
  readonly users: readonly UserName[];
  readonly groups: readonly string[];
  readonly channels: readonly string[];
  readonly topics: readonly TopicName[];
  /** Names that only a custom emoji can have. */
  readonly emoji: readonly string[];
  /** Names of built-in emoji, which a custom emoji may replace (wire facts 11). */
  readonly builtInEmoji: readonly string[];
  /** Whether the text may mention everybody. Only `render` knows whether it does. */
  readonly channelWildcard: boolean;
  readonly topicWildcard: boolean;
  /** Whether it may have formulas, and faces such as `:)`, which depend on more than the text. */
  readonly formulas: boolean;
  readonly faces: boolean;
}

/** Anything with the `get` of a `Map`. */
export interface Lookup<K, V> {
  get(key: K): V | undefined;
}

/** A user that a text names, with the name to show, however the text spells it. */
export interface ResolvedUser {
  readonly id: number;
  readonly fullName: string;
}

export interface ResolvedGroup {
  readonly id: number;
  readonly name: string;
}

/** A channel that a text names. Channels that the sender cannot see are left out. */
export interface ResolvedChannel {
  readonly id: number;
  readonly name: string;
  /** The newest message of each topic that the sender can read, by the topic as the text spells it. */
  readonly newestByTopic?: Lookup<string, number>;
}

/** An active custom emoji. */
export interface ResolvedEmoji {
  /** The address of its image: a path on this server, or an `https:` address. */
  readonly sourceUrl: string;
}

/** An uploaded image that a text may show. Its addresses are paths on this server. */
export interface ResolvedImage {
  readonly url: string;
  readonly thumbnailUrl: string;
  readonly contentType: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
}

/**
 * What the names in one text refer to, by the names exactly as `extractReferences` returned them. How names of each kind
 * are compared (case, folding) is up to the code that looks them up.
 */
export interface ResolvedReferences {
  readonly usersByName: Lookup<string, ResolvedUser>;
  readonly usersById: Lookup<number, ResolvedUser>;
  readonly groups: Lookup<string, ResolvedGroup>;
  readonly channels: Lookup<string, ResolvedChannel>;
  readonly emoji: Lookup<string, ResolvedEmoji>;
  /** Sets the formulas of the text. Without it they are shown as code. */
  readonly typesetter?: Typesetter | undefined;
  /** The organization's patterns that become links. */
  readonly linkifiers?: Linkifiers | undefined;
  /** Whether faces such as `:)` become emoji, as their sender set. */
  readonly translatesFaces?: boolean | undefined;
  /** The images that links lead to, by the address of the link. Without it no images are shown. */
  readonly images?: Lookup<string, ResolvedImage> | undefined;
  /** The organization's own address, as `https://chat.example`: links to places in its client become relative. */
  readonly baseUrl?: string | undefined;
}

const nothing: Lookup<unknown, never> = { get: () => undefined };

/** No name refers to anything: mentions and channel links stay plain text. */
export const NOTHING_RESOLVED: ResolvedReferences = {
  usersByName: nothing,
  usersById: nothing,
  groups: nothing,
  channels: nothing,
  emoji: nothing,
};

/** The words that mention everybody in the channel (wire facts 3.7). */
export const CHANNEL_WILDCARDS: ReadonlySet<string> = new Set(['all', 'everyone', 'channel', 'stream']);
/** The word that mentions the participants of the topic (wire facts 3.7). */
export const TOPIC_WILDCARDS: ReadonlySet<string> = new Set(['topic']);

/** The longest name of a user, group or channel in code points. Longer text between the marks is plain text. */
const MAX_NAME_LENGTH = 100;

/** Whether this text can be the name of a user, a group or a channel. */
export function isName(text: string): boolean {
  if (text.length > 2 * MAX_NAME_LENGTH) return false;
  return text.trim() !== '' && [...text].length <= MAX_NAME_LENGTH;
}

/** Parses the text between the asterisks of `@**...**`; undefined if it cannot name a user. */
export function userName(text: string): UserName | undefined {
  const withId = /^(.*)\|(\d{1,15})$/.exec(text);
  const name = withId ? withId[1] : text;
  if (name && !isName(name)) return undefined;
  if (withId) return { ...(name ? { name } : {}), id: Number(withId[2]) };
  return name ? { name } : undefined;
}

/** The channels that `#**...**` may name, the likeliest first: a name may itself contain a `>`. */
export function channelNames(text: string): string[] {
  const end = text.indexOf('>');
  return (end > 0 ? [text.slice(0, end), text] : [text]).filter(isName);
}

/** A topic followed by the ID of one of its messages. */
export const TOPIC_WITH_MESSAGE = /^(.*)@(\d{1,15})$/;

/** The topic that `#**...**` may link to. A link to a message needs no lookup of its topic. */
function topicNames(text: string): TopicName[] {
  const [channel, ...others] = channelNames(text);
  const topic = channel === undefined || others.length === 0 ? undefined : text.slice(channel.length + 1);
  const isTopic = channel !== undefined && topic !== undefined && !TOPIC_WITH_MESSAGE.test(topic);
  return isTopic ? [{ channel, topic }] : [];
}

/** How many different names of each kind one text may use. Further ones stay plain text. */
export const MAX_NAMES = 50;

// Each pattern looks ahead at the name instead of consuming it, because the end of one candidate can be the beginning
// of the next. No name contains the next mark, so candidates never overlap and a pass takes linear time.
const USER = /@_?\*\*(?=([^*\n]+)\*\*)/g;
const GROUP = /@_?\*(?=([^*\n]+)\*)/g;
const CHANNEL = /#\*\*(?=([^*\n]+)\*\*)/g;
const EMOJI = /:(?=([a-z0-9_+-]{1,100}):)/g;

/** The texts between the marks, each once. In a table `\|` means a bar, so both readings are included. */
function candidates(content: string, pattern: RegExp): string[] {
  const texts = new Set<string>();
  for (const match of content.matchAll(pattern)) {
    const text = match[1] ?? '';
    texts.add(text);
    if (text.includes('\\|')) texts.add(text.replaceAll('\\|', '|'));
  }
  return [...texts];
}

const limited = (names: Iterable<string>): string[] => [...new Set(names)].slice(0, MAX_NAMES);

/**
 * Lists the names that a text may refer to, so that one batch can read them before `render` runs. Ignores code and
 * quotes, so it may list too many, but lists every name that `render` looks up, up to `MAX_NAMES` of each kind.
 * Takes time linear in the text.
 */
export function extractReferences(content: string): References {
  const people = candidates(content, USER);
  const channels = candidates(content, CHANNEL);
  const emoji = candidates(content, EMOJI);
  const isWildcard = (text: string): boolean => CHANNEL_WILDCARDS.has(text) || TOPIC_WILDCARDS.has(text);
  return {
    users: people
      .filter((text) => !isWildcard(text))
      .flatMap((text) => userName(text) ?? [])
      .slice(0, MAX_NAMES),
    groups: limited(candidates(content, GROUP).filter(isName)),
    channels: limited(channels.flatMap(channelNames)),
    topics: channels.flatMap(topicNames).slice(0, MAX_NAMES),
    emoji: limited(emoji.filter((name) => !isBuiltInEmoji(name))),
    builtInEmoji: limited(emoji.filter((name) => isBuiltInEmoji(name))),
    channelWildcard: people.some((text) => CHANNEL_WILDCARDS.has(text)),
    topicWildcard: people.some((text) => TOPIC_WILDCARDS.has(text)),
    formulas: mayHaveFormulas(content),
    faces: mayHaveFaces(content),
  };
}
