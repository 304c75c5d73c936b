import { commit, Stale } from '../../log/commit.ts';
import type { Log } from '../../log/log.ts';
import type { MessageEntry } from '../../log/slot.ts';
import { NOTHING_FOUND } from '../../markdown/found.ts';
import { key } from '../../table/keys.ts';
import type { Caller } from '../caller.ts';
import type { Channel, ChannelCount } from '../channel/channel.ts';
import { folded } from '../folding.ts';
import { noticeMessage } from '../message/notice-message.ts';
import type { Outside } from '../outside.ts';
import { doArrive, type Topic } from './topic.ts';

/** A topic of a channel. */
export interface Place {
  readonly channel: Channel;
  readonly topic: string;
}

/** What the service says in a topic. */
export interface Notice {
  readonly place: Place;
  /** Markdown, and the channels that it may name. */
  readonly content: string;
  readonly channels: readonly Channel[];
}

/** A notice as a message: the bot that speaks for the service says it, naming the caller. `now` is in ms. */
export function noticeEntry(
  { user, realm }: Caller,
  { place: { channel, topic }, content, channels }: Notice,
  now: number,
): MessageEntry {
  const found = {
    ...NOTHING_FOUND,
    usersById: new Map([[user.userId, { id: user.userId, fullName: user.fullName }]]),
    channels: new Map(channels.map(({ channelId: id, name }) => [name, { id, name }])),
  };
  const { channelId } = channel;
  return noticeMessage({ channelId, topic, noticeBotId: realm.noticeBotId, content, now }, found);
}

/** How often a notice is tried when its topic changes meanwhile. */
const TRIES = 5;

/** Posts a notice. What it tells of has happened already, so whatever fails here is only reported. */
export async function sendNotice(outside: Outside, log: Log, caller: Caller, notice: Notice): Promise<void> {
  const { realmId: realm } = caller;
  const { channel, topic } = notice.place;
  const { channelId } = channel;
  for (let attempt = 1; ; attempt++) {
    try {
      const [stored, count] = await Promise.all([
        outside.table.get<Topic>(key('topic', { realm, channelId, topic: folded(topic) })),
        outside.table.get<ChannelCount>(key('channelCount', { realm, channelId })),
      ]);
      const now = outside.now();
      const senderId = caller.realm.noticeBotId;
      const day = Math.floor(now / 86_400_000);
      await commit(log, 1, ([messageId]) => ({
        writes: doArrive(
          realm,
          { channelId, topic, messageId: messageId as number, senderId, day, isNotice: true },
          { topic: stored, takesPart: false, count },
        ),
        entries: [noticeEntry(caller, notice, now)],
        result: undefined,
      }));
      return;
    } catch (error) {
      if (error instanceof Stale && attempt < TRIES) continue;
      outside.report({ level: 'WARN', notice: error instanceof Error ? error.message : String(error) });
      return;
    }
  }
}
