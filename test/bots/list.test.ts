import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as listBots } from '../../functions/bots/list.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { key } from '../../shared/table/keys.ts';
import { answer } from '../support/accounts.ts';
import { givenChannel, givenUser } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

const robot = { full_name: 'Rosie Robot', short_name: 'rosie' };

describe('GET /bots', () => {
  it("lists the caller's active bots, and nobody else's", async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    const mine = await call(createBot, people.owner, robot);
    const gone = await call(createBot, people.owner, { full_name: 'Gone', short_name: 'gone' });
    await call(deactivate, people.owner, {}, { path: { user: gone.body.user_id } });
    const { bots } = (await call(listBots, people.owner)).body;
    expect(bots.map(({ user_id }: { user_id: number }) => user_id)).toEqual([mine.body.user_id]);
    expect(JSON.stringify(bots)).not.toContain(mine.body.api_key);
    expect((await call(listBots, people.guest)).body.bots).toEqual([]);
    expect(answer(await call(listBots, people.bot))).toEqual([400, 'BAD_REQUEST']);
  });

  it('leaves out the name of a channel that the owner can no longer see', async () => {
    const realm = await newRealm();
    const person = await givenUser(realm);
    const channel = await givenChannel(realm, { name: 'cave', isPrivate: true }, [person]);
    await realm.call(createBot, person, { ...robot, default_sending_stream: 'cave' });
    const named = async () => (await realm.call(listBots, person)).body.bots[0].default_sending_stream;
    expect(await named()).toBe('cave');
    const { channelId } = channel;
    const subscription = key('subscription', { realm: realm.realm, userId: person.userId, channelId });
    await realm.outside.table.transact([{ delete: subscription }], realm.outside.uuid());
    expect(await named()).toBeNull();
  });
});
