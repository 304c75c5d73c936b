import type { Json } from './client.ts';

/** A message as a client knows it. */
interface Cached {
  content: string;
  channelId: number | undefined;
  topic: string;
  readonly reactions: Set<string>;
  readonly flags: Set<string>;
}

/** Flags that a message gets from what is in it or where it is, and not by an event of its own. */
const derived = new Set([
  'has_alert_word',
  'topic_wildcard_mentioned',
  'stream_wildcard_mentioned',
  'wildcard_mentioned',
  'mentioned',
]);

const reactionIn = ({ user_id, reaction_type, emoji_code }: Json): string =>
  `${user_id} ${reaction_type} ${emoji_code}`;

const asCached = ({ content, stream_id, subject, reactions }: Json, flags: readonly string[]): Cached => ({
  content,
  channelId: stream_id,
  topic: subject,
  reactions: new Set(reactions.map(reactionIn)),
  flags: new Set(flags.filter((flag) => !derived.has(flag))),
});

const plain = ({ content, channelId, topic, reactions, flags }: Cached): string =>
  JSON.stringify([content, channelId, topic, [...reactions].sort(), [...flags].sort()]);

/** The messages that a client keeps up to date by events. */
export class MessageCache {
  readonly #messages = new Map<number, Cached>();

  /** What the client makes of an event. */
  apply(event: Json): void {
    const { type, op, message, message_id, message_ids = [message_id], messages } = event;
    if (type === 'message') this.#messages.set(message.id, asCached(message, event.flags));
    else if (type === 'delete_message') for (const id of message_ids) this.#messages.delete(id);
    else if (type === 'update_message') this.#edit(event);
    else if (type === 'reaction') {
      const reactions = this.#messages.get(message_id)?.reactions;
      if (op === 'add') reactions?.add(reactionIn(event));
      else reactions?.delete(reactionIn(event));
    } else if (type === 'update_message_flags') {
      for (const id of messages) {
        const flags = this.#messages.get(id)?.flags;
        if (op === 'add') flags?.add(event.flag);
        else flags?.delete(event.flag);
      }
    }
  }

  #edit({ message_id, message_ids, content, subject, new_stream_id }: Json): void {
    for (const id of message_ids) {
      const cached = this.#messages.get(id);
      if (cached === undefined) continue;
      if (id === message_id && content !== undefined) cached.content = content;
      if (subject !== undefined) cached.topic = subject;
      if (new_stream_id !== undefined) cached.channelId = new_stream_id;
    }
  }

  /**
   * What differs between the client's messages and those that it fetches, of those above `after`: one sentence for
   * each. The client must have heard of all that it may fetch.
   */
  differences(name: string, fetched: readonly Json[], after: number): string[] {
    const there = new Map(
      fetched.filter(({ id }) => id > after).map((message) => [message.id as number, message]),
    );
    const wrong: string[] = [];
    for (const [id, message] of there) {
      const cached = this.#messages.get(id);
      const told = plain(asCached(message, message.flags));
      if (cached === undefined) wrong.push(`${name} never heard message ${id}: ${told}`);
      else if (plain(cached) !== told)
        wrong.push(`${name} knows message ${id} as ${plain(cached)}, it is ${told}`);
    }
    for (const id of this.#messages.keys()) {
      if (!there.has(id)) wrong.push(`${name} knows message ${id}, which is gone`);
    }
    return wrong;
  }
}
