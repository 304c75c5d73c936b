import { expect, it } from 'vitest';
import { handler as addDefault } from '../../functions/channels/addDefault.ts';
import { handler as removeDefault } from '../../functions/channels/removeDefault.ts';
import { handler as update } from '../../functions/messages/update.ts';
import { handler as updateFlags } from '../../functions/messages/updateFlags.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { doAddEmoji, doDeactivateEmoji, EMOJI_EVENTS } from '../../shared/domain/emoji/change.ts';
import { commit } from '../../shared/log/commit.ts';
import { givenChannel } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { workedOff } from '../support/outbox.ts';
import { randomFrom } from '../support/random.ts';
import { newRealm, type Reply, type TestRealm } from '../support/realm.ts';
import { Curtain } from '../support/torn-reads.ts';
import { done } from './case.ts';
import { follow } from './follow.ts';

/*
 * Changes in random order, most of them with events that are filled on delivery. Clients see only parts of each
 * transaction for as long as that may last, and end with the state of a new registration. `STATE_SEED`,
 * `STATE_STORIES` and `STATE_STEPS` extend the search.
 */

const { STATE_SEED = '1', STATE_STORIES = '2', STATE_STEPS = '24' } = process.env;
const SEEDS = Array.from({ length: Number(STATE_STORIES) }, (_, i) => Number(STATE_SEED) + i);

type Random = <T>(list: readonly T[]) => T;

/** A message may be where the caller cannot read it, or where it is to move already. */
async function mayBeRefused(asked: Promise<Reply>): Promise<void> {
  const { status, body } = await asked;
  expect([200, 400], body.msg).toContain(status);
}

/** What may happen, each as often as the others. */
async function deedsIn(realm: TestRealm, pick: Random): Promise<readonly (() => Promise<unknown>)[]> {
  const { admin, member, guest } = realm.people;
  const here = await givenChannel(realm, {}, [admin, member, guest]);
  const there = await givenChannel(realm, {}, [admin, member]);
  const channels = [here, there];
  const ids = [
    await sent(realm, admin, { to: here.channelId, topic: 'tea' }, '@**all**'),
    await sent(realm, admin, { to: there.channelId, topic: 'tea' }, '@**topic**'),
  ];
  let count = 0;
  const change = (given: object) =>
    realm.call(
      update,
      admin,
      { send_notification_to_new_thread: false, ...given },
      { path: { message_id: pick(ids) } },
    );
  return [
    () => {
      const emoji = {
        name: `emoji${count++}`,
        authorId: admin.userId,
        sourceUrl: '/x.png',
        stillUrl: null,
        deactivated: false,
      };
      return commit(realm.log, EMOJI_EVENTS, ([emojiId = 0]) =>
        doAddEmoji(realm.realm, { emojiId, ...emoji }),
      );
    },
    async () => {
      const [emoji] = (await realm.outside.table.all('emoji', realm)).filter(
        ({ deactivated }) => !deactivated,
      );
      if (emoji) await commit(realm.log, EMOJI_EVENTS, () => doDeactivateEmoji(realm.realm, emoji));
    },
    () => done(realm, pick([addDefault, removeDefault]), admin, { stream_id: pick(channels).channelId }),
    () => done(realm, subscribe, pick([admin, member]), { subscriptions: [{ name: `new ${count++}` }] }),
    () => done(realm, subscribe, member, { subscriptions: [{ name: here.name }] }),
    () => done(realm, unsubscribe, member, { subscriptions: [here.name] }),
    () => {
      const flags = { op: pick(['add', 'remove']), flag: pick(['read', 'starred']), messages: [pick(ids)] };
      return mayBeRefused(realm.call(updateFlags, pick([member, guest]), flags));
    },
    async () =>
      void ids.push(
        await sent(
          realm,
          admin,
          { to: there.channelId, topic: pick(['tea', 'cake']) },
          pick(['@**topic**', 'x']),
        ),
      ),
    () => mayBeRefused(change({ stream_id: pick(channels).channelId, topic: pick(['tea', 'cake']) })),
    async () => {
      const content = `edit ${count++} ${pick(['@**all**', '@**topic**', ''])}`;
      expect((await change({ content })).status).toBe(200);
    },
    () => workedOff(realm),
  ];
}

it.each(SEEDS)(
  'clients that see parts of transactions end with the state that a new registration returns (story %i)',
  async (seed) => {
    const realm = await newRealm({}, new Curtain());
    const random = randomFrom(seed);
    const pick: Random = (list) => list[Math.floor(random() * list.length)] as (typeof list)[number];
    const deeds = await deedsIn(realm, pick);
    const { settle } = await follow(realm);
    for (let step = 0; step < Number(STATE_STEPS); step++) {
      await pick(deeds)();
      if (random() < 0.4) await settle();
    }
    await settle();
  },
  120_000,
);
