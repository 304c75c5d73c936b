import { describe, expect, it } from 'vitest';
import { handler as get } from '../../functions/messages/get.ts';
import { givenClient } from '../support/event-queue.ts';
import { fetched, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

describe('the avatar of a sender (client_gravatar)', () => {
  it.each([
    [undefined, true],
    [true, true],
    [false, false],
  ])('%s gives the same form in fetches, single messages and events', async (wish, isLeftOut) => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const query = wish === undefined ? {} : { client_gravatar: wish };
    const client = await givenClient(realm, admin, query);
    const id = await sent(realm, member, { to: realm.channels.general });
    const list = await fetched(realm, admin, query);
    const alone = await realm.call(get, admin, {}, { path: { message_id: id }, query });
    const [event] = await client.poll();
    const found = [list.body.messages[0], alone.body.message, event.message];
    const expected = isLeftOut
      ? null
      : expect.stringMatching(/^https:\/\/secure\.gravatar\.com\/avatar\/\w+/);
    for (const { avatar_url } of found) expect(avatar_url).toEqual(expected);
    expect(new Set(found.map(({ avatar_url }) => avatar_url)).size).toBe(1);
  });
});
