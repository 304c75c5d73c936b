import { expect, test } from 'vitest';
import { handler as deleteMessage } from '../../functions/messages/delete.ts';
import { handler as getMessage } from '../../functions/messages/get.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { canGet, linkTo, uploaded } from '../support/files.ts';
import { givenChannel } from '../support/given.ts';
import { update } from '../support/message-update.ts';
import { sent } from '../support/messages.ts';
import { randomFrom } from '../support/random.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';

/** Whether a fetch of the message works for this person. */
const canFetch = async (realm: TestRealm, as: Person, message_id: number): Promise<boolean> =>
  (await realm.call(getMessage, as, {}, { path: { message_id } })).status === 200;

/*
 * The oracle is the fetch itself: a file is open to its owner, and to everybody who can fetch a message whose text links to
 * it now and whose author had the file at that time.
 */
test.each([1, 2, 3])(
  'users can get exactly the files of messages that they can fetch, after random sends, moves, edits, joins and leaves (seed %i)',
  async (seed) => {
    const realm = await newRealm();
    await workOf(realm, 'outbox');
    const random = randomFrom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    const { owner, admin, member, guest } = realm.people;
    const people = [owner, admin, member, guest];
    const closed = await givenChannel(realm, { isPrivate: true }, [owner, member]);
    const guarded = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: false }, [
      owner,
      admin,
    ]);
    const channels = [realm.channels.general, closed.channelId, guarded.channelId];
    const files = await Promise.all(
      people.map(async (person) => ({ owner: person, url: await uploaded(realm, person) })),
    );
    /** The files that each message holds, as the oracle has it. */
    const held = new Map<number, Set<string>>();
    const senders = new Map<number, Person>();

    const mayGet = async (person: Person, url: string): Promise<boolean> => {
      if (files.some((file) => file.url === url && file.owner === person)) return true;
      for (const [id, urls] of held) if (urls.has(url) && (await canFetch(realm, person, id))) return true;
      return false;
    };
    const open = async (person: Person, urls: readonly string[]): Promise<Set<string>> => {
      const set = new Set<string>();
      for (const url of urls) if (await mayGet(person, url)) set.add(url);
      return set;
    };

    for (let step = 0; step < 20; step++) {
      const person = pick(people);
      const urls = files.filter(() => random() < 0.4).map(({ url }) => url);
      const id = pick([...held.keys(), 0]);
      const action = Math.floor(random() * 6);
      if (action <= 1 || id === 0) {
        const to =
          random() < 0.3 ? { people: [pick(people)] } : { to: pick(channels), topic: pick(['a', 'b']) };
        const had = await open(person, urls);
        const message = await sent(realm, person, to, `x ${linkTo(...urls)}`).catch(() => undefined);
        if (message === undefined) continue;
        held.set(message, had);
        senders.set(message, person);
      } else if (action === 2) {
        const author = senders.get(id) as Person;
        const before = held.get(id) as Set<string>;
        const had = await open(author, urls);
        const { status } = await update(realm, author, id, { content: `y ${linkTo(...urls)}` });
        if (status === 200) held.set(id, new Set(urls.filter((url) => had.has(url) || before.has(url))));
      } else if (action === 3) {
        await update(realm, owner, id, { stream_id: pick(channels), topic: pick(['a', 'b']) });
      } else if (action === 4) {
        const { status } = await realm.call(deleteMessage, owner, {}, { path: { message_id: id } });
        if (status === 200) held.delete(id);
      } else {
        const name = pick(['general', closed.name, guarded.name]);
        if (random() < 0.5) await realm.call(unsubscribe, person, { subscriptions: [name] });
        else {
          const principals = [person.userId];
          await realm.call(subscribe, owner, { subscriptions: [{ name }], principals });
        }
      }
      for (const one of people) {
        const url = pick(files).url;
        expect([step, await canGet(realm, one, url)]).toEqual([step, await mayGet(one, url)]);
      }
    }
    for (const one of people)
      for (const { url } of files) expect(await canGet(realm, one, url)).toBe(await mayGet(one, url));
  },
  60_000,
);
