import { describe, expect, it } from 'vitest';
import { handler as react } from '../../functions/reactions/add.ts';
import { handler as unreact } from '../../functions/reactions/remove.ts';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { uploaded } from '../support/files.ts';
import {
  givenChangedChannel,
  givenChannel,
  givenMutedChannel,
  givenSubscription,
  givenUserTopic,
} from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { fetched, flagged, givenMessages, idsIn, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

const not = (operator: string, operand: unknown) => ({ operator, operand, negated: true });

describe('GET /messages: the operator `has` (companion facts 1.14)', () => {
  it('finds messages with a link, an image, a file or a reaction', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const say = (content: string) => sent(realm, member, { to: general, topic: 'tea' }, content);
    const plain = await say('no <a href="x">');
    const link = await say('see https://example.com/?a.png');
    const image = await say('[look](https://example.com/a.PNG?b#c)');
    const place = await say('#**general** #**general>tea**');
    const has = (part: string, ...more: unknown[]) =>
      idsIn(realm, admin, { narrow: [['has', part], ...more] });
    expect(await has('link')).toEqual([link, image]);
    expect(await has('image')).toEqual([image]);
    expect(await has('link', not('has', 'image'))).toEqual([link]);
    expect(await has('link', ['channel', 'general'], ['topic', 'TEA'])).toEqual([link, image]);
    expect(await idsIn(realm, admin, { narrow: [not('has', 'link')] })).toEqual([plain, place]);
    expect(await idsIn(realm, admin, { message_ids: [plain, link], narrow: [['has', 'link']] })).toEqual([
      link,
    ]);
    const path = { message_id: plain };
    expect(await has('reaction')).toEqual([]);
    await realm.call(react, member, { emoji_name: 'tada' }, { path });
    expect(await has('reaction')).toEqual([plain]);
    expect(await has('reaction', ['has', 'link'])).toEqual([]);
    await realm.call(unreact, member, { emoji_name: 'tada' }, { path });
    expect(await has('reaction')).toEqual([]);
    expect(await has('attachment')).toEqual([]);
    // Somebody else's file, which the writer cannot fetch, is only a link.
    const url = await uploaded(realm, admin);
    const notTheirs = await say(`[a](${url})`);
    const file = await sent(realm, admin, { to: general, topic: 'files' }, `[a](${url})`);
    expect(await has('attachment')).toEqual([file]);
    expect(await has('link', not('has', 'attachment'), ['topic', 'tea'])).toEqual([link, image, notTheirs]);
  });

  it('takes two round trips in a warm container, and finds a match beyond a hundred messages that do not match', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const links = [
      await sent(realm, member, { to: general }, 'https://example.com/1'),
      await sent(realm, member, { to: general }, 'https://example.com/2'),
    ];
    const container = realm.container();
    const trips = async (query: Readonly<Record<string, unknown>>): Promise<number> => {
      container.meter.reset();
      expect(await idsIn(container, admin, query)).toEqual(links);
      return container.meter.roundTrips;
    };
    const narrow = [
      ['channel', general],
      ['has', 'link'],
    ];
    expect(await trips({ narrow })).toBe(3);
    expect(await trips({ narrow })).toBe(2);
    await givenMessages(realm, member, general, () => 'noise', 250);
    expect(await trips({ narrow, num_before: 2 })).toBe(4);
  });

  it('gives up after 2,000 messages that do not match, and says so', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    await sent(realm, member, { to: general }, 'https://example.com');
    await givenMessages(realm, member, general, (i) => `t${i % 9}`, 2_600, '');
    const narrow = [
      ['channel', general],
      ['has', 'link'],
    ];
    const container = realm.container();
    const { body } = await fetched(container, admin, { narrow, num_before: 10 });
    expect(body.messages).toEqual([]);
    expect([body.found_oldest, body.history_limited]).toEqual([true, true]);
    expect(container.meter.readUnits).toBeLessThan(4_500);
  }, 120_000);
});

describe('GET /messages: sets of channels', () => {
  it('all public channels are included, subscribed or not, and no private one', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const open = await givenChannel(realm, {}, [member]);
    const web = await givenChannel(realm, { isWebPublic: true }, [member]);
    const closed = await givenChannel(realm, { isPrivate: true }, [member]);
    const ids = {
      general: await sent(realm, member, { to: realm.channels.general }),
      open: await sent(realm, member, { to: open.channelId }),
      web: await sent(realm, member, { to: web.channelId }),
      closed: await sent(realm, member, { to: closed.channelId }),
      direct: await sent(realm, member, { people: [admin, guest] }),
    };
    for (const operator of ['channels', 'streams']) {
      const narrow = [[operator, 'public']];
      const all = [ids.general, ids.open, ids.web];
      expect(await idsIn(realm, admin, { narrow })).toEqual(all);
      expect(await idsIn(realm, member, { narrow })).toEqual(all);
      expect(await idsIn(realm, guest, { narrow })).toEqual([ids.general]);
    }
    await givenSubscription(realm, guest, open.channelId);
    const later = await sent(realm, member, { to: open.channelId });
    expect(await idsIn(realm, guest, { narrow: [['channels', 'public']] })).toEqual([ids.general, later]);
    // Any state but 'resolved' is about received messages.
    expect(
      await idsIn(realm, admin, {
        narrow: [
          ['channels', 'public'],
          ['is', 'unread'],
        ],
      }),
    ).toEqual([ids.general]);
    expect(await idsIn(realm, member, { narrow: [not('channels', 'public')] })).toEqual([
      ids.closed,
      ids.direct,
    ]);
    expect(await idsIn(realm, member, { narrow: [['channels', 'web-public']] })).toEqual([ids.web]);
    expect(await idsIn(realm, admin, { narrow: [['channels', 'web-public']] })).toEqual([]);
    expect(await idsIn(realm, member, { narrow: [['channels', 'archived']] })).toEqual([]);
    await givenChangedChannel(realm, open.channelId, { isArchived: true });
    expect(await idsIn(realm, member, { narrow: [['channels', 'archived']] })).toEqual([ids.open, later]);
  });

  it('a message id alone finds only messages that the caller received, and with the channel also its history', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId } = await givenChannel(realm, {}, [member]);
    const id = await sent(realm, member, { to: channelId });
    const named = ['id', id];
    expect(await idsIn(realm, admin, { narrow: [named] })).toEqual([]);
    expect(await idsIn(realm, admin, { narrow: [named, ['channel', channelId]] })).toEqual([id]);
    expect(await idsIn(realm, admin, { narrow: [named, ['channels', 'public']] })).toEqual([id]);
    expect(
      await idsIn(realm, admin, { narrow: [named, ['channel', channelId], not('is', 'unread')] }),
    ).toEqual([]);
    expect(
      await idsIn(realm, admin, { narrow: [named, ['channel', channelId], not('is', 'resolved')] }),
    ).toEqual([id]);
  });
});

describe('GET /messages: people and mutes', () => {
  it('narrows find mentions of a user by name, and group conversations with a user', async () => {
    const realm = await newRealm();
    const { member, admin, guest } = realm.people;
    const { general } = realm.channels;
    const visible = await sent(realm, member, { to: general }, '@**Adam Admin**');
    await sent(realm, member, { to: general }, '@_**Adam Admin**');
    await sent(realm, member, { to: general }, '@**all**');
    await sent(realm, member, { people: [admin] });
    const three = await sent(realm, member, { people: [admin, guest] });
    for (const operand of [admin.userId, admin.email])
      expect(await idsIn(realm, member, { narrow: [['mentions', operand]] })).toEqual([visible]);
    for (const operator of ['group-pm-with', 'group_pm_with'])
      for (const operand of [admin.userId, admin.email])
        expect(await idsIn(realm, member, { narrow: [[operator, operand]] })).toEqual([three]);
  });

  it('narrows find muted messages, and messages that are not muted', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const say = (to: number, topic: string) => sent(realm, member, { to, topic });
    const ids = {
      open: await say(general, 'open'),
      muted: await say(general, 'Muted'),
      quiet: await say(random, 'quiet'),
      heard: await say(random, 'heard'),
      followed: await say(random, 'followed'),
      direct: await sent(realm, member, { people: [admin] }),
    };
    const muted = () => idsIn(realm, admin, { narrow: [['is', 'muted']] });
    expect(await muted()).toEqual([]);
    await givenUserTopic(realm, admin, general, 'muted', visibility.muted);
    await givenMutedChannel(realm, admin, random);
    await givenUserTopic(realm, admin, random, 'heard', visibility.unmuted);
    await givenUserTopic(realm, admin, random, 'followed', visibility.followed);
    const home = [ids.open, ids.heard, ids.followed, ids.direct];
    expect(await muted()).toEqual([ids.muted, ids.quiet]);
    for (const term of [['in', 'home'], not('is', 'muted')])
      expect(await idsIn(realm, admin, { narrow: [term] })).toEqual(home);
    expect(await idsIn(realm, admin, { narrow: [not('in', 'home')] })).toEqual([ids.muted, ids.quiet]);
    expect(
      await idsIn(realm, admin, {
        narrow: [
          ['in', 'home'],
          ['channel', random],
        ],
      }),
    ).toEqual([ids.heard, ids.followed]);
    await flagged(realm, admin, 'add', 'read', [ids.open]);
    const firstUnread = async (narrow: unknown) =>
      (await fetched(realm, admin, { anchor: 'first_unread', narrow })).body.anchor;
    expect(await firstUnread([])).toBe(ids.heard);
    // The muting of the channel that is named does not count, that of a topic does.
    expect(await firstUnread([['channel', random]])).toBe(ids.quiet);
    expect(await firstUnread([['channel', general]])).toBe(10_000_000_000_000_000);
  });

  it('the first unread message is found behind a muted channel full of unread ones', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    await givenMutedChannel(realm, admin, random);
    await givenUserTopic(realm, admin, random, 'heard', visibility.unmuted);
    await givenMessages(realm, member, random, () => 'noise', 1_200, '');
    const heard = await sent(realm, member, { to: random, topic: 'heard' });
    await givenMessages(realm, member, general, () => 'tea', 1_500, '');
    const ask = async () =>
      (await fetched(realm, admin, { anchor: 'first_unread', num_before: 0 })).body.anchor;
    expect(await ask()).toBe(heard);
    expect(await ask()).toBe(heard);
  }, 120_000);
});

describe('GET /messages: the operator `with`', () => {
  it('replaces the channel and topic by those where the message is now', async () => {
    const realm = await newRealm();
    const { member, admin, owner } = realm.people;
    const { general, random } = realm.channels;
    const first = await sent(realm, member, { to: general, topic: 'old' });
    const other = await sent(realm, member, { to: random, topic: 'new' });
    const direct = await sent(realm, member, { people: [admin] });
    expect((await move(realm, owner, first, { stream_id: random, topic: 'new' })).status).toBe(200);
    const old = [
      ['channel', general],
      ['topic', 'old'],
    ];
    const both = [first, other];
    for (const operand of [first, String(first)])
      for (const narrow of [
        [['with', operand]],
        [...old, ['with', operand]],
        [
          ['dm', []],
          ['with', operand],
        ],
      ])
        expect(await idsIn(realm, admin, { narrow })).toEqual(both);
    expect(
      await idsIn(realm, admin, { narrow: [...old, ['with', first], not('sender', admin.userId)] }),
    ).toEqual(both);
    expect(await idsIn(realm, admin, { narrow: [['with', direct]] })).toEqual([direct]);
    const clash = await fetched(realm, admin, {
      narrow: [
        ['is', 'dm'],
        ['with', first],
      ],
    });
    expect(clash.body.code).toBe('BAD_NARROW');
  });

  it('is treated for a message without access like one for a missing message', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const closed = await givenChannel(
      realm,
      { isPrivate: true, groups: { can_subscribe_group: systemGroups.nobody.id } },
      [member],
    );
    const hidden = await sent(realm, member, { to: closed.channelId, topic: 'plans' });
    const own = await sent(realm, member, { to: realm.channels.general, topic: 'tea' });
    const rests = [
      [],
      [['is', 'dm']],
      [['channel', 'general']],
      [['topic', 'tea']],
      [
        ['channel', 'nowhere'],
        ['topic', 'tea'],
      ],
      [
        ['channel', 'general'],
        ['topic', 'tea'],
      ],
      [
        ['channel', 'general'],
        ['topic', 'tea'],
        ['is', 'dm'],
      ],
      [['dm', [member.userId]]],
    ];
    for (const rest of rests) {
      const [without, missing, secret] = await Promise.all(
        [[], [['with', 999_999]], [['with', hidden]]].map((term) =>
          fetched(realm, admin, { narrow: [...rest, ...term] }),
        ),
      );
      expect(secret?.body).toEqual(missing?.body);
      const isNamed = rest.length === 2 || rest.some(([operator]) => operator === 'dm');
      if (isNamed) expect(secret?.body).toEqual(without?.body);
      else expect(secret?.body.code).toBe('BAD_NARROW');
    }
    expect(await idsIn(realm, admin, { narrow: [['topic', 'tea']] })).toEqual([own]);
  });
});
