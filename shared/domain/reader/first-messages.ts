import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import type { ChannelCount } from '../../model/channel/channel.ts';
import { currentIds, extents, loadRecentChanges, type RecentChanges } from '../../model/message/recent.ts';
import { key, LARGEST_NUMBER } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

/** Channels that are searched in parallel. */
const CONCURRENCY = 50;
/** Messages per read at the start of a channel. More than one, since the index may still show some that left. */
const FIRST_READ = 4;
const NEXT_READ = 200;
/** Channels whose oldest message one registration stores; later ones store the rest. */
const MAX_REMEMBERED = 20;

/** A channel object; `first_message_id` is undefined if the stored one may be wrong. */
interface Incomplete {
  readonly stream_id: number;
  readonly first_message_id?: number | null | undefined;
}

type Complete<C> = Omit<C, 'first_message_id'> & { readonly first_message_id: number | null };

/** Finds the oldest messages of channels that have none stored, each once per request. */
export class FirstMessages {
  readonly #outside: Pick<Outside, 'table' | 'now' | 'cache' | 'uuid'>;
  readonly #realm: string;
  readonly #upTo: number;
  readonly #found = new Map<number, Promise<number | null>>();
  #recent: Promise<RecentChanges> | undefined;

  /** `upTo`: only messages up to this number count; clients get later ones as events. */
  constructor(
    outside: Pick<Outside, 'table' | 'now' | 'cache' | 'uuid'>,
    realm: string,
    upTo = LARGEST_NUMBER,
  ) {
    this.#outside = outside;
    this.#realm = realm;
    this.#upTo = upTo;
  }

  /** Whether any channel was searched. */
  get haveSearched(): boolean {
    return this.#found.size > 0;
  }

  /** The oldest message of a channel, or null. One round trip. */
  of(channelId: number): Promise<number | null> {
    const known = this.#found.get(channelId);
    if (known !== undefined) return known;
    const finding = this.#find(channelId);
    this.#found.set(channelId, finding);
    return finding;
  }

  async #find(channelId: number): Promise<number | null> {
    const { table } = this.#outside;
    const recent = (): Promise<RecentChanges> => {
      this.#recent ??= loadRecentChanges(this.#outside, this.#realm, extents.read);
      return this.#recent;
    };
    const reach = currentIds(table, this.#realm, { channelId }, recent);
    const to = this.#upTo;
    for (let [from, limit] = [0, FIRST_READ]; ; limit = NEXT_READ) {
      const { heads, until } = await reach({ from, to, side: 'newer', limit });
      if (heads.length > 0) return Math.min(...heads.map(({ id }) => id));
      if (until === undefined) return null;
      from = until + 1;
    }
  }

  /** Completes a channel or subscription. One round trip if its oldest message is not stored, or else none. */
  async complete<C extends Incomplete>(channel: C): Promise<Complete<C>> {
    const { stream_id, first_message_id: first } = channel;
    return { ...channel, first_message_id: first === undefined ? await this.of(stream_id) : first };
  }

  /** The same for many: one round trip for each 50 that have none stored. */
  async completeAll<C extends Incomplete>(channels: readonly C[]): Promise<Complete<C>[]> {
    const forgotten = channels.filter((channel) => channel.first_message_id === undefined);
    for (const chunk of chunksOf(forgotten, CONCURRENCY))
      await Promise.all(chunk.map(({ stream_id }) => this.of(stream_id)));
    return Promise.all(channels.map((channel) => this.complete(channel)));
  }

  /**
   * Stores what was found. `counts` must have been read, and the search done, after the cursor `upTo` was fixed. Does
   * nothing for a channel that has changed since or whose mark is newer than the cursor, nor if an index may be later
   * than the log that was read. One round trip.
   */
  async remember(counts: readonly ChannelCount[]): Promise<void> {
    const { table, uuid } = this.#outside;
    if ((await this.#recent)?.isComplete !== true) return;
    const ripe = counts.filter(
      ({ channelId, firstForgotten }) =>
        firstForgotten !== undefined && firstForgotten <= this.#upTo && this.#found.has(channelId),
    );
    await Promise.all(
      ripe.slice(0, MAX_REMEMBERED).map(async ({ channelId, firstForgotten }) => {
        const firstMessageId = await this.of(channelId);
        const when = { equals: { firstForgotten } };
        const update = key('channelCount', { realm: this.#realm, channelId });
        const writes: Write[] =
          firstMessageId === null
            ? [{ update, change: { remove: ['firstForgotten', 'firstMessageId'] }, when }]
            : [
                { update, change: { set: { firstMessageId }, remove: ['firstForgotten'] }, when },
                {
                  check: key('slot', { realm: this.#realm, seq: firstMessageId }),
                  when: { equals: { kind: 'message', channelId } },
                },
              ];
        // Best effort: if it fails, the next registration does it.
        await table.transact(writes, uuid());
      }),
    );
  }
}
