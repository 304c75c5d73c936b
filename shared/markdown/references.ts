import { channelNames, type TopicName, topicName } from './channel-link.ts';
import { isBuiltInEmoji } from './emoji-table.ts';
import { CHANNEL_WILDCARDS, TOPIC_WILDCARDS, type UserName, userName } from './mention.ts';
import { isName } from './name.ts';

/** The names in one text that may mean something, for the caller to look up in one go. */
export interface References {
  /** By name, by name and ID, or by ID alone. Where there is an ID, it decides. */
  readonly users: readonly UserName[];
  readonly groups: readonly string[];
  readonly channels: readonly string[];
  readonly topics: readonly TopicName[];
  /** Names that only a custom emoji can have. */
  readonly emoji: readonly string[];
  /** Names of built-in emoji, which administrators may replace by custom ones (wire facts 11). */
  readonly builtInEmoji: readonly string[];
  /** Whether the text may mention everybody; only `render` knows whether it does. */
  readonly channelWildcard: boolean;
  readonly topicWildcard: boolean;
}

/** How many different names of each kind one text may use; further ones stay plain text. */
export const MAX_WANTED = 50;

// Each pattern looks ahead at the name instead of consuming it, because the end of one candidate can be the beginning
// of the next. No name reaches over the next mark, so that the candidates never overlap and a pass is linear.
const USER = /@_?\*\*(?=([^*\n]+)\*\*)/g;
const GROUP = /@_?\*(?=([^*\n]+)\*)/g;
const CHANNEL = /#\*\*(?=([^*\n]+)\*\*)/g;
const EMOJI = /:(?=([a-z0-9_+-]{1,100}):)/g;

/** What stands between the marks, each text once. In a table an escaped bar is a bar, so both readings count. */
function candidates(content: string, pattern: RegExp): Set<string> {
  const texts = new Set<string>();
  for (const match of content.matchAll(pattern)) {
    const text = match[1] ?? '';
    texts.add(text);
    if (text.includes('\\|')) texts.add(text.replaceAll('\\|', '|'));
  }
  return texts;
}

const some = (names: Iterable<string>): string[] => [...new Set(names)].slice(0, MAX_WANTED);

/**
 * Says which names a text may refer to, so that they can be read in one batch before `render` is called. It knows
 * nothing of code or quotes and so may name too many; it names all that `render` looks up, at most `MAX_WANTED` of
 * each kind. Takes time linear in the text.
 */
export function extractReferences(content: string): References {
  const people = candidates(content, USER);
  const channels = [...candidates(content, CHANNEL)];
  const emoji = [...candidates(content, EMOJI)];
  const isWildcard = (text: string): boolean => CHANNEL_WILDCARDS.has(text) || TOPIC_WILDCARDS.has(text);
  return {
    users: [...people]
      .filter((text) => !isWildcard(text))
      .flatMap((text) => userName(text) ?? [])
      .slice(0, MAX_WANTED),
    groups: some([...candidates(content, GROUP)].filter(isName)),
    channels: some(channels.flatMap(channelNames)),
    topics: channels.flatMap(topicName).slice(0, MAX_WANTED),
    emoji: some(emoji.filter((name) => !isBuiltInEmoji(name))),
    builtInEmoji: some(emoji.filter(isBuiltInEmoji)),
    channelWildcard: [...people].some((text) => CHANNEL_WILDCARDS.has(text)),
    topicWildcard: [...people].some((text) => TOPIC_WILDCARDS.has(text)),
  };
}
