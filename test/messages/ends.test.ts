import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { handler as getChannel } from '../../functions/channels/get.ts';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { TransactWriteCommand } from '../../shared/table/commands.ts';
import type { Send } from '../../shared/table/table.ts';
import { audit } from '../support/audit/audit.ts';
import { givenClient, sendTo } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { workedOff } from '../support/outbox.ts';
import { randomFrom } from '../support/random.ts';
import { newRealm } from '../support/realm.ts';

/*
 * People write while the oldest and the newest messages are removed and moved. Writers are slow at random between taking
 * their number and their commit, so that messages commit in another order than that of their ids. Somebody registers all
 * the while, by which the oldest messages of channels come to be remembered. Each round ends with empty channels, and the
 * next one fills them again. `ENDS_SEED`, `ENDS_STORIES` and `ENDS_ROUNDS` search on.
 */

const { ENDS_SEED = '1', ENDS_STORIES = '2', ENDS_ROUNDS = '8' } = process.env;
const SEEDS = Array.from({ length: Number(ENDS_STORIES) }, (_, i) => Number(ENDS_SEED) + i);

const TOPICS = ['tea', 'cake'] as const;
const parameters = { fetch_event_types: ['stream'], event_types: ['message'] };

it.each(SEEDS)(
  'the first and last messages of topics and channels are right after concurrent sends, moves and deletions (story %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const pause = (most: number) => wait(random() * most);
    const slow =
      (send: Send): Send =>
      async (command) => {
        if (command instanceof TransactWriteCommand) await pause(80);
        return send(command);
      };
    const realm = await newRealm();
    const { owner, admin, moderator, member } = realm.people;
    const people = [owner, admin, moderator, member];
    const channels = [
      (await givenChannel(realm, {}, people)).channelId,
      (await givenChannel(realm, {}, people)).channelId,
    ] as const;
    const remove = (message_id: number) => realm.call(deleteMessage, owner, {}, { path: { message_id } });
    const success = { status: 200 };

    for (let round = 0; round < Number(ENDS_ROUNDS); round++) {
      const live = new Set<number>();
      const write = async (container = realm): Promise<void> => {
        live.add(await sendTo(container, pick(people), channels[0], 'x', { topic: pick(TOPICS) }));
      };
      for (let before = 1 + Math.floor(random() * 2); before > 0; before--) await write();
      const [first = 0] = live;
      const takeAway = async (): Promise<void> => {
        await pause(60);
        if (random() < 0.3) {
          const change = { stream_id: channels[1], topic: pick(TOPICS) };
          expect(await move(realm, owner, first, change)).toMatchObject(success);
        } else {
          expect(await remove(first)).toMatchObject(success);
          live.delete(first);
        }
      };
      await Promise.all([
        ...people.map(async () => {
          await pause(30);
          return write(realm.container(slow));
        }),
        takeAway(),
        ...[20, 100].map(async (ms) => {
          await pause(ms);
          return givenClient(realm.container(), member, parameters);
        }),
      ]);
      await workedOff(realm);
      for (const stream_id of channels) {
        const { body } = await realm.call(getChannel, owner, {}, { path: { stream_id } });
        const { state } = await givenClient(realm, member, parameters);
        const told = state.streams.find((channel: { stream_id: number }) => channel.stream_id === stream_id);
        expect(body.stream.first_message_id, `round ${round}`).toBe(told.first_message_id);
      }
      if (round % 4 === 3) expect(await audit(realm), `round ${round}`).toEqual([]);
      // None of them has got stuck.
      for (const id of [...live].sort(() => random() - 0.5)) expect(await remove(id)).toMatchObject(success);
    }
    expect(await audit(realm)).toEqual([]);
  },
  120_000,
);
