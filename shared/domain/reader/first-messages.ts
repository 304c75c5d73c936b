import type { Outside } from '../../kernel/outside.ts';
import type { ChannelCount } from '../../model/channel/channel.ts';
import { currentIds, extents, loadRecentChanges, type RecentChanges } from '../../model/message/recent.ts';
import { key, LARGEST_NUMBER } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';

/** Channels in which the oldest message is looked for at the same time. */
const AT_ONCE = 50;
/** Messages at the beginning of a channel that are looked at: an index may still show some that left it. */
const FEW = 4;
const MANY = 200;
/** Channels whose oldest message one registration remembers; those after it go on. */
const MAX_REMEMBERED = 20;

/** What is told of a channel: `first_message_id` is undefined where that was forgotten. */
interface Told {
  readonly stream_id: number;
  readonly first_message_id?: number | null | undefined;
}

type Complete<C> = Omit<C, 'first_message_id'> & { readonly first_message_id: number | null };

/** Finds the oldest messages of channels where they are forgotten (`first-message.ts`), each once for a request. */
export class FirstMessages {
  readonly #outside: Pick<Outside, 'table' | 'now' | 'cache' | 'uuid'>;
  readonly #realm: string;
  readonly #upTo: number;
  readonly #found = new Map<number, Promise<number | null>>();
  #recent: Promise<RecentChanges> | undefined;

  /** `upTo`: only messages up to this number count, since others are told later. */
  constructor(
    outside: Pick<Outside, 'table' | 'now' | 'cache' | 'uuid'>,
    realm: string,
    upTo = LARGEST_NUMBER,
  ) {
    this.#outside = outside;
    this.#realm = realm;
    this.#upTo = upTo;
  }

  /** Whether there was anything to look for. */
  get haveLooked(): boolean {
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
    for (let [from, limit] = [0, FEW]; ; limit = MANY) {
      const { found, until } = await reach({ from, to, side: 'newer', limit });
      if (found.length > 0) return Math.min(...found.map(({ id }) => id));
      if (until === undefined) return null;
      from = until + 1;
    }
  }

  /** A channel or a subscription with its oldest message. One round trip where that is forgotten, or none. */
  async tell<C extends Told>(channel: C): Promise<Complete<C>> {
    const { stream_id, first_message_id: first } = channel;
    return { ...channel, first_message_id: first === undefined ? await this.of(stream_id) : first };
  }

  /** The same for many: one round trip for each 50 in which it is forgotten. */
  async tellIn<C extends Told>(channels: readonly C[]): Promise<Complete<C>[]> {
    const forgotten = channels.filter((channel) => channel.first_message_id === undefined);
    for (let start = 0; start < forgotten.length; start += AT_ONCE)
      await Promise.all(forgotten.slice(start, start + AT_ONCE).map(({ stream_id }) => this.of(stream_id)));
    return Promise.all(channels.map((channel) => this.tell(channel)));
  }

  /**
   * Remembers what was found, for a request whose cursor is `upTo` and that read `counts` and looked after that was
   * fixed. Nothing happens where something has changed since, where the note is behind the cursor, or where an index may
   * be later than the log was read. One round trip.
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
        const first = await this.of(channelId);
        const when = { equals: { firstForgotten } };
        const update = key('channelCount', { realm: this.#realm, channelId });
        const writes: Write[] =
          first === null
            ? [{ update, change: { remove: ['firstForgotten', 'firstMessageId'] }, when }]
            : [
                {
                  update,
                  change: { set: { firstMessageId: first }, remove: ['firstForgotten'] },
                  when,
                },
                {
                  check: key('slot', { realm: this.#realm, seq: first }),
                  when: { equals: { kind: 'message', channelId } },
                },
              ];
        // Where it is refused or not heard, the next one does it.
        await table.transact(writes, uuid());
      }),
    );
  }
}
