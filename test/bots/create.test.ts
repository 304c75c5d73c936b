import { describe, expect, it } from 'vitest';
import { handler as createBot } from '../../functions/bots/create.ts';
import { handler as listBots } from '../../functions/bots/list.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as listSubscriptions } from '../../functions/subscriptions/list.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { accessOrganizationOf } from '../../infra/org/organizations.ts';
import { botEmail, loadOwnedBots } from '../../shared/domain/account/bot.ts';
import { changeHosts } from '../../shared/domain/realm-edit/hosts.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { ownHost } from '../../shared/model/realm/hosts.ts';
import { answer, out, personIn } from '../support/accounts.ts';
import { type Mishap, mishaps } from '../support/faults.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { told } from '../support/subscription-state.ts';

const robot = { full_name: 'Rosie Robot', short_name: 'rosie' };

const botIn = ({ host }: TestRealm, reply: Reply): Person => personIn(reply, `rosie-bot@${host}`);

describe('POST /bots', () => {
  it('makes a bot of the caller, whose key works at once', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    const reply = await call(createBot, people.member, robot);
    expect(reply.body).toEqual({
      result: 'success',
      msg: '',
      user_id: expect.any(Number),
      api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
      avatar_url: expect.stringMatching(/^https:\/\/secure\.gravatar\.com\/avatar\//),
      default_sending_stream: null,
      default_events_register_stream: null,
      default_all_public_streams: false,
    });
    const bot = botIn(realm, reply);
    const { body } = await call(getOwn, bot);
    expect(body).toMatchObject({
      email: `rosie-bot@${realm.host}`,
      full_name: 'Rosie Robot',
      is_bot: true,
      bot_type: 1,
      bot_owner_id: people.member.userId,
      role: 400,
    });
    expect((await call(listSubscriptions, bot)).body.subscriptions).toEqual([]);
  });

  it('sends everyone an event about the account, and one about the bot to its managers', async () => {
    const realm = await newRealm();
    for (const [owner, hearers] of [
      ['member', [{ everyone: 'administrators' }, { users: [realm.people.member.userId] }]],
      ['admin', [{ everyone: 'administrators' }]],
    ] as const) {
      const before = await lastNumber(realm);
      const names = { full_name: `Of ${owner}`, short_name: owner };
      const { body } = await realm.call(createBot, realm.people[owner], {
        ...names,
        default_sending_stream: 'general',
      });
      const entries = await told(realm, before);
      expect(entries[0]).toMatchObject({
        seq: body.user_id,
        hearers: { everyone: 'all' },
        payload: {
          type: 'realm_user',
          op: 'add',
          person: { user_id: body.user_id, is_bot: true, bot_type: 1 },
        },
      });
      expect(entries[0]?.payload.person).not.toHaveProperty('profile_data');
      expect(entries.slice(1, 3).map(({ payload }) => payload)).toEqual(
        [systemGroups.members.id, systemGroups.fullMembers.id].map((group_id) => ({
          type: 'user_group',
          op: 'add_members',
          group_id,
          user_ids: [body.user_id],
        })),
      );
      expect(entries.slice(3)).toMatchObject(
        hearers.map((each) => ({
          hearers: each,
          payload: {
            type: 'realm_bot',
            op: 'add',
            bot: {
              user_id: body.user_id,
              default_sending_stream: 'general',
              default_events_register_stream: null,
              default_all_public_streams: false,
              services: [],
            },
          },
        })),
      );
      expect(JSON.stringify(entries)).not.toContain(body.api_key);
    }
  });

  it('stores the settings of the bot, and lists them', async () => {
    const { call, people } = await newRealm();
    const settings = {
      default_sending_stream: 'Random',
      default_events_register_stream: 'general',
      default_all_public_streams: true,
    };
    const { body } = await call(createBot, people.member, { ...robot, ...settings });
    const kept = { ...settings, default_sending_stream: 'random' };
    expect(body).toMatchObject(kept);
    const { bots } = (await call(listBots, people.member)).body;
    expect(bots).toEqual([
      expect.objectContaining({ username: 'bot@example.com', default_sending_stream: null }),
      {
        user_id: body.user_id,
        username: expect.stringMatching(/^rosie-bot@/),
        full_name: 'Rosie Robot',
        avatar_url: body.avatar_url,
        ...kept,
      },
    ]);
  });

  it('refuses channels that the caller cannot see in the same words as missing ones', async () => {
    const realm = await newRealm();
    await givenChannel(realm, { name: 'secret', isPrivate: true });
    const { call, people } = realm;
    const replies = await Promise.all(
      ['secret', 'nowhere'].map((name) =>
        call(createBot, people.member, { ...robot, default_sending_stream: name }),
      ),
    );
    const [secret, nowhere] = replies as [Reply, Reply];
    expect(answer(secret)).toEqual([400, 'BAD_REQUEST']);
    expect(secret.body.msg).toBe(nowhere.body.msg.replace('nowhere', 'secret'));
    const empty = await call(createBot, people.member, { ...robot, default_events_register_stream: '' });
    expect(answer(empty)).toEqual([400, 'BAD_REQUEST']);
  });

  it('needs the permission, and refuses guests', async () => {
    const everyone = await newRealm({ can_create_bots_group: systemGroups.everyone.id });
    expect(answer(await everyone.call(createBot, everyone.people.guest, robot))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
    expect(answer(await everyone.call(createBot, everyone.people.bot, robot))).toEqual([400, 'BAD_REQUEST']);
    const few = await newRealm({ can_create_bots_group: systemGroups.administrators.id });
    expect(answer(await few.call(createBot, few.people.moderator, robot))).toEqual([400, 'BAD_REQUEST']);
    expect((await few.call(createBot, few.people.admin, robot)).status).toBe(200);
  });

  it.each(['', ' ', 'a b', 'a@b', 'rosie:', 'rös', '.rosie', 'ro..sie', 'r'.repeat(61), '"r"', 'ro\u0001'])(
    'refuses the short name %j',
    async (short_name) => {
      const { call, people } = await newRealm();
      expect(answer(await call(createBot, people.member, { ...robot, short_name }))).toEqual([
        400,
        'BAD_REQUEST',
      ]);
    },
  );

  it.each(['', '  ', 'a'.repeat(101), 'Ro*sie', 'Rosie|3', 'Rosie\u0000', 'Rosie\u2028\uFFFF'])(
    'refuses the full name %j',
    async (full_name) => {
      const { call, people } = await newRealm();
      expect(answer(await call(createBot, people.member, { ...robot, full_name }))).toEqual([
        400,
        'BAD_REQUEST',
      ]);
    },
  );

  it.each([0, 3, 4, -1, 1.5, '"1"', 'generic'])('refuses the bot type %j', async (bot_type) => {
    const { call, people } = await newRealm();
    expect(answer(await call(createBot, people.member, { ...robot, bot_type }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  });

  it('lets an incoming webhook send messages, and do nothing else', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    const hook = botIn(realm, await call(createBot, people.member, { ...robot, bot_type: 2 }));
    expect(answer(await call(getOwn, hook))).toEqual([401, 'UNAUTHORIZED']);
    const message = { type: 'channel', to: 'general', topic: 'builds', content: 'green' };
    expect((await call(send, hook, message)).status).toBe(200);
    const { bots } = (await call(listBots, people.member)).body;
    expect(bots).toContainEqual(expect.objectContaining({ user_id: hook.userId }));
  });

  it('refuses an address that is taken, and a name that an active account has', async () => {
    const realm = await newRealm();
    const { call, people } = realm;
    await call(createBot, people.member, robot);
    const again = await call(createBot, people.owner, { full_name: 'Another', short_name: 'ROSIE' });
    expect([...answer(again), again.body.msg]).toEqual([
      400,
      'BAD_REQUEST',
      expect.stringContaining('address'),
    ]);
    for (const full_name of ['Rosie Robot', 'Max Member']) {
      const reply = await call(createBot, people.owner, { full_name, short_name: 'other' });
      expect([...answer(reply), reply.body.msg]).toEqual([
        400,
        'BAD_REQUEST',
        expect.stringContaining(full_name),
      ]);
    }
    await call(deactivate, people.owner, {}, { path: { user: people.moderator.userId } });
    const free = { full_name: 'Mona Moderator', short_name: 'mona' };
    expect((await call(createBot, people.owner, free)).status).toBe(200);
  });

  it('creates one bot for two concurrent requests with the same address', async () => {
    const realm = await newRealm();
    const replies = await Promise.all(
      ['Rosie', 'Roberta', 'Ronja', 'Rita'].map((full_name) =>
        realm.container().call(createBot, realm.people.member, { full_name, short_name: 'r' }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    for (const { status, body } of replies) if (status === 400) expect(body.msg).toContain('address');
  });

  it('creates one bot for two concurrent requests with the same name', async () => {
    const realm = await newRealm();
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((short_name) =>
        realm.container().call(createBot, realm.people.member, { full_name: 'Rosie', short_name }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    for (const { status, body } of replies) if (status === 400) expect(body.msg).toContain("'Rosie'");
  });

  it('creates no bot for a user who is deactivated meanwhile', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const meanwhile: Mishap = async (send) => {
      await out(realm, owner, member);
      return send();
    };
    const container = realm.container(mishaps({ transact: [meanwhile] }));
    expect(answer(await container.call(createBot, member, robot))).toEqual([401, 'UNAUTHORIZED']);
    expect(await loadOwnedBots(realm.outside.table, realm.realm, member.userId)).toHaveLength(1);
  });

  it("makes an address at the organization's own host, whatever host the request names", async () => {
    const realm = await newRealm();
    const { outside } = realm;
    const organization = await accessOrganizationOf(outside.table, realm.host);
    const other = `other-${realm.host}`;
    await changeHosts(outside, organization, { add: other });
    for (const [short_name, headers] of [
      ['one', { host: `${realm.host}:9991` }],
      ['two', { host: other }],
      ['three', { host: 'api.internal', 'x-forwarded-host': other }],
    ] as const) {
      const asked = { full_name: short_name, short_name };
      const { status, body } = await realm.call(createBot, realm.people.member, asked, { headers });
      expect(status, body.msg).toBe(200);
      const bot = personIn({ status, body, headers: {} }, `${short_name}-bot@${realm.host}`);
      expect((await realm.call(getOwn, bot)).body.email).toBe(bot.email);
    }
    const again = { full_name: 'Four', short_name: 'one' };
    const { status, body } = await realm.call(createBot, realm.people.member, again, {
      headers: { host: other },
    });
    expect([status, body.msg]).toEqual([
      400,
      `There is already an account with the address 'one-bot@${realm.host}'.`,
    ]);
  });

  it.each<[string, string, readonly string[] | undefined, string | undefined]>([
    [
      'the first host that it was given',
      'main',
      ['*', 'chat.example.com', 'b.example.com'],
      'chat.example.com',
    ],
    ['none where it answers at any host only', 'main', ['*'], undefined],
    ['none where it is the first of a service that is older than the list', 'main', undefined, undefined],
    ['its ID where it is another one of such a service', 'acme.example.com', undefined, 'acme.example.com'],
  ])("takes as the organization's own host %s", (_, id, hosts, own) => {
    expect(ownHost(id, hosts && { hosts })).toBe(own);
    expect(botEmail('rosie', own)).toBe(`rosie-bot@${own ?? 'parlance.invalid'}`);
  });
});
