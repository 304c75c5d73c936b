import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as deactivate } from '../../functions/users/deactivate.ts';
import { endMailAddress } from '../../infra/org/mail-address.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { key } from '../../shared/table/keys.ts';
import { edited } from '../support/channel-state.ts';
import {
  givenBot,
  givenChangedChannel,
  givenChangedUser,
  givenChannel,
  givenCrowd,
  givenGroup,
  givenRealmSettings,
  givenSubscription,
  givenUser,
} from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { storedMessage, storedTopic } from '../support/stored.ts';
import {
  addressOf,
  arrived,
  mail,
  mailDomain,
  mailing,
  notificationOf,
  postedIn,
  postedOf,
  received,
  worked,
} from './mail.ts';

const noticeBotOf = async ({ realm, outside }: TestRealm): Promise<number> =>
  (await outside.table.get('realm', { realm }))?.noticeBotId as number;

describe('mail to a channel (specification 4.7, wire facts 9)', () => {
  it('becomes a message with the subject as its topic and the body as its content', async () => {
    const realm = await newRealm();
    const { general } = realm.channels;
    const to = await addressOf(realm, realm.people.member, general);
    expect(await postedOf(realm, mail({ To: to, Subject: 'Lunch' }))).toMatchObject({
      channelId: general,
      topic: 'Lunch',
      senderId: await noticeBotOf(realm),
      content: '**From:** `Ann Outside <ann@outside.example>`\n\nHello from afar.',
    });
  });

  it('has the sender of the address: the service, "the current user" or a bot of theirs (4.7/sender-shown)', async () => {
    const realm = await newRealm();
    const { member, bot } = realm.people;
    for (const { userId } of [member, bot]) {
      const to = await addressOf(realm, member, realm.channels.general, { senderId: userId });
      const { id, senderId } = await postedOf(realm, mail({ To: to, Subject: 'x' }));
      expect(senderId).toBe(userId);
      expect(await storedMessage(realm, id)).toMatchObject({ senderId: userId, client: 'Internal' });
    }
  });

  it('shows the From address only if the channel address has "show-sender" (wire facts 9)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const to = await addressOf(realm, member, realm.channels.general, { options: [] });
    expect((await postedOf(realm, mail({ To: to }))).content).toBe('Hello from afar.');
  });

  it('"`.` or `+` separate parts" of the address, whose case means nothing (wire facts 9)', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general, { options: [] });
    const [slug, token] = to.split(/[.@]/);
    const forms = [
      `${slug}+${token}+include-quotes`,
      `anything.${token}`,
      `${token}`,
      `${slug}.${token}`.toUpperCase(),
    ];
    for (const form of forms) {
      await postedOf(realm, mail({ To: `${form}@${mailDomain.toUpperCase()}` }));
    }
  });

  it('reaches hidden recipients and several channels, each once', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general, random } = realm.channels;
    const [one, two, three] = [
      await addressOf(realm, member, general),
      await addressOf(realm, member, random),
      await addressOf(realm, admin, general),
    ];
    const hidden = await received(
      realm,
      mail({ 'Delivered-To': one, Received: `from a by b for <${two}>; now`, To: 'list@outside.example' }),
    );
    expect(hidden.posted.map(({ channelId }) => channelId)).toEqual([random, general]);
    const many = await received(realm, mail({ To: `${one}, Team: ${two}, ${three};`, Cc: one }));
    expect(many.posted.map(({ channelId }) => channelId)).toEqual([general, random, general]);
    expect(many.dropped).toEqual([]);
  });

  it('is shown according to the form of the address in the envelope', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const { general } = realm.channels;
    const [bare, full] = [
      await addressOf(realm, member, general, { options: [] }),
      await addressOf(realm, member, general),
    ];
    const { content } = await postedOf(realm, mail({ 'Delivered-To': bare, To: full }));
    expect(content).toBe('Hello from afar.');
  });

  it('finds its organization by the token alone', async () => {
    const [mine, other] = [await newRealm(), await newRealm()];
    const to = await addressOf(other, other.people.member, other.channels.general);
    await received(mine, mail({ To: to }));
    expect(await postedIn(mine)).toEqual([]);
    expect(await postedIn(other)).toHaveLength(1);
  });

  it('lists the names of its attachments', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general, { options: [] });
    const part = (name: string) =>
      `--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename="${name}"\n\nabc\n`;
    const type = 'multipart/mixed; boundary=x';
    const body = (names: readonly string[]) =>
      `--x\nContent-Type: text/plain\n\nSee these.\n${names.map(part).join('')}--x--`;
    const few = await postedOf(
      realm,
      mail({ To: to, 'Content-Type': type }, body(['a.pdf', 'b `c` @**all**.pdf'])),
    );
    expect(few.content).toBe("See these.\n\n**Attachments:** `a.pdf`, `b 'c' @**all**.pdf`");
    const names = Array.from({ length: 500 }, (_, i) => `${'n'.repeat(400)}${i}.pdf`);
    const many = await postedOf(realm, mail({ To: to, 'Content-Type': type }, body(names)));
    expect(many.content).toMatch(
      /^See these\.\n\n\*\*Attachments:\*\* (`n{200}`, ){19}`n{200}` and 480 more$/,
    );
  });
});

describe('the topic of mail', () => {
  it.each([
    ['Re: Lunch', 'Lunch'],
    ['AW: RE[2]: fwd : Lunch', 'Lunch'],
    ['  Lunch \r\n  at   noon ', 'Lunch at noon'],
    ['=?utf-8?Q?Caf=C3=A9?= =?utf-8?B?IPCfjbA=?=', 'Café 🍰'],
    ['tab\there\u0007 bell', 'tab here bell'],
    ['x'.repeat(5000), `${'x'.repeat(57)}...`],
    ['Reply to all', 'Reply to all'],
    ['Re:', ''],
    ['', ''],
  ])('for the subject %j is %j', async (subject, topic) => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    expect((await postedOf(realm, mail({ To: to, Subject: subject }))).topic).toBe(topic);
  });

  it('has a default name if the policy requires one, and is empty if the policy requires that (specification 3)', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const named = await givenChannel(realm, { topicsPolicy: 'disable_empty_topic' });
    const to = await addressOf(realm, member, named.channelId, { options: [] });
    for (const Subject of ['', 'general chat'])
      expect((await postedOf(realm, mail({ To: to, Subject }))).topic).toBe('Mail without a subject');
    const empty = await givenChannel(realm, { topicsPolicy: 'empty_topic_only' });
    const other = await addressOf(realm, member, empty.channelId, { options: [] });
    expect(await postedOf(realm, mail({ To: other, Subject: 'Re: `Lunch`' }))).toMatchObject({
      topic: '',
      content: "**Subject:** `'Lunch'`\n\nHello from afar.",
    });
  });
});

describe('mail is dropped, with a log line without content and address,', () => {
  const text = 'a very private matter';
  const dropped = async (
    realm: TestRealm,
    to: string,
    more: Readonly<Record<string, string>> = {},
    body = text,
  ) => {
    const { posted, dropped, reports } = await received(
      realm,
      mail({ To: to, Subject: text, ...more }, body),
    );
    expect(posted).toEqual([]);
    const told = JSON.stringify(reports);
    for (const secret of [text, to, 'ann@'].filter(Boolean)) expect(told).not.toContain(secret);
    return dropped;
  };

  it('if it has an unknown token, or none', async () => {
    const realm = await newRealm();
    expect(await dropped(realm, `general.${'0'.repeat(32)}@${mailDomain}`)).toEqual(['unknown address']);
    for (const to of [`general@${mailDomain}`, `general.${'0'.repeat(32)}@other.example`, ''])
      expect(await dropped(realm, to)).toEqual(['no address']);
    const tokens = Array.from({ length: 21 }, (_, i) => `${String(i).padStart(32, '0')}@${mailDomain}`);
    expect(await dropped(realm, tokens.join(', '))).toEqual(['too many addresses']);
  });

  it('if the channel is archived, which accepts mail again once it is unarchived (wire facts 9)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    const to = await addressOf(realm, admin, channelId);
    await realm.call(archive, admin, {}, { path: { stream_id: channelId } });
    expect(await dropped(realm, to)).toEqual(['channel archived']);
    await edited(realm, admin, channelId, { is_archived: false });
    await postedOf(realm, mail({ To: to }));
  });

  it('if its user may no longer post there (wire facts 3.5)', async () => {
    const realm = await newRealm();
    const { member, bot } = realm.people;
    const { channelId } = await givenChannel(realm);
    const senders = [undefined, member.userId, bot.userId];
    const addresses = await Promise.all(
      senders.map((senderId) =>
        addressOf(realm, member, channelId, senderId === undefined ? {} : { senderId }),
      ),
    );
    await givenChangedChannel(realm, channelId, { isPrivate: true });
    for (const to of addresses) expect(await dropped(realm, to)).toEqual(['not permitted']);
    await givenSubscription(realm, member, channelId);
    for (const to of addresses) await postedOf(realm, mail({ To: to }));
  });

  it('if its user may not write to the topic or channel (wire facts 3.6)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { channelId, groups } = await givenChannel(realm);
    const to = await addressOf(realm, member, channelId);
    await postedOf(realm, mail({ To: to, Subject: 'old' }));
    const can_create_topic_group = systemGroups.administrators.id;
    await givenChangedChannel(realm, channelId, { groups: { ...groups, can_create_topic_group } });
    expect(await dropped(realm, to, { Subject: 'new' })).toEqual(['not permitted']);
    await postedOf(realm, mail({ To: to, Subject: 'Re: Old' }));
    await postedOf(realm, mail({ To: await addressOf(realm, admin, channelId), Subject: 'new' }));
  });

  it('if its user or bot is deactivated', async () => {
    const realm = await newRealm();
    const { member, owner } = realm.people;
    const bot = await givenBot(realm, member);
    const { general } = realm.channels;
    const viaBot = await addressOf(realm, member, general, { senderId: bot.userId });
    const own = await addressOf(realm, member, general);
    await givenChangedUser(realm, bot, { isActive: false });
    expect(await dropped(realm, viaBot)).toEqual(['sender lost']);
    await givenChangedUser(realm, bot, { isActive: true, ownerId: owner.userId });
    expect(await dropped(realm, viaBot)).toEqual(['sender lost']);
    await givenChangedUser(realm, bot, { ownerId: member.userId });
    for (const to of [own, viaBot]) await postedOf(realm, mail({ To: to }));
    const { body } = await realm.call(deactivate, owner, {}, { path: { user: member.userId } });
    expect(body).toEqual({ result: 'success', msg: '' });
    for (const to of [own, viaBot]) expect(await dropped(realm, to)).toEqual(['account deactivated']);
  });

  it('if the organization is deactivated', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    await realm.outside.table.update(key('realm', { realm: realm.realm }), { set: { deactivated: true } });
    expect(await dropped(realm, to)).toEqual(['account deactivated']);
  });

  const hops = Object.fromEntries(
    Array.from({ length: 101 }, (_, i) => [`Received${' '.repeat(i)}`, 'by x; now']),
  );
  it.each<[string, string, Readonly<Record<string, string>>]>([
    ['loop', 'from an address of a channel', { From: `general.${'a'.repeat(32)}.show-sender@${mailDomain}` }],
    ['loop', 'with a sender at our domain', { Sender: `x@${mailDomain}` }],
    ['loop', 'that returns to our domain', { 'Return-Path': `<x@${mailDomain.toUpperCase()}>` }],
    ['loop', 'with an id of ours', { 'Message-ID': `<1@${mailDomain}>` }],
    ['loop', 'that passed 101 servers', hops],
    ['automatic reply', 'by RFC 3834', { 'Auto-Submitted': 'auto-replied (vacation)' }],
    ['automatic reply', 'by its precedence', { Precedence: 'auto_reply' }],
    ['automatic reply', 'by an old mark', { 'X-Autoreply': 'yes' }],
    ['automatic reply', 'by another old mark', { 'X-Autorespond': 'yes' }],
    ['automatic reply', 'that returns nowhere', { 'Return-Path': '<>' }],
    ['automatic reply', 'of a server', { 'Content-Type': 'multipart/report; boundary=x' }],
    ['virus', 'that SES found', { 'X-SES-Virus-Verdict': 'FAIL' }],
    ['spam', 'that SES found', { 'X-SES-Spam-Verdict': 'FAIL' }],
  ])('if it is a %s %s', async (reason, _, headers) => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    expect(await dropped(realm, to, headers)).toEqual([reason]);
  });

  it('and it is not an automatic reply or from a list', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    const welcome: Readonly<Record<string, string>>[] = [
      { 'Auto-Submitted': 'auto-generated' },
      { 'Auto-Submitted': 'no' },
      { 'List-Id': '<list.outside.example>', Precedence: 'list' },
      { Precedence: 'bulk' },
      { 'X-SES-Spam-Verdict': 'GRAY' },
    ];
    for (const headers of welcome) await postedOf(realm, mail({ To: to, ...headers }));
  });

  it('if it is too large, or nested too deeply', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    expect((await received(realm, mail({ To: to }, 'x'.repeat(10 * 1024 * 1024)))).dropped).toEqual([
      'too large',
    ]);
    const deep = Array.from(
      { length: 100 },
      (_, i) => `--${i}\nContent-Type: multipart/mixed; boundary=${i + 1}\n\n`,
    );
    expect(
      await dropped(realm, to, { 'Content-Type': 'multipart/mixed; boundary=0' }, deep.join('')),
    ).toEqual(['unreadable']);
    expect(await dropped(realm, to, { 'X-Long': 'x'.repeat(300_000) })).toEqual(['unreadable']);
    expect(await dropped(realm, to, {}, '\n'.repeat(300_001))).toEqual(['unreadable']);
  });

  it('if it is missing in the bucket', async () => {
    const container = mailing(await newRealm());
    expect(await worked(container, notificationOf('mail/nothing', 5))).toEqual([]);
    expect(container.reports).toEqual([
      { level: 'WARN', message: 'mail dropped', mail: 'mail/nothing', reason: 'gone' },
    ]);
  });
});

describe('an address that leaked (`npm run org -- end-address`)', () => {
  it('can be revoked: its mail is dropped, and its user gets another one', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const { general } = realm.channels;
    const [leaked, other] = [await addressOf(realm, member, general), await addressOf(realm, admin, general)];
    await postedOf(realm, mail({ To: leaked }));
    const ended = await endMailAddress(realm.outside, leaked.toUpperCase());
    expect(ended).toMatchObject({ realm: realm.realm, channelId: general, userId: member.userId });
    expect(await received(realm, mail({ To: leaked }))).toMatchObject({
      posted: [],
      dropped: ['unknown address'],
    });
    const fresh = await addressOf(realm, member, general);
    expect(fresh).not.toBe(leaked);
    await postedOf(realm, mail({ To: fresh }));
    // Others keep theirs.
    expect(await addressOf(realm, admin, general)).toBe(other);
    await postedOf(realm, mail({ To: other }));
  });

  it('is revoked once, without other effects', async () => {
    const realm = await newRealm();
    const leaked = await addressOf(realm, realm.people.member, realm.channels.general);
    const both = await Promise.allSettled([1, 2].map(() => endMailAddress(realm.outside, leaked)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const given of [
      leaked,
      'general@mail.example.com',
      `x.${'0'.repeat(32)}@mail.example.com`,
      '',
      'x',
    ]) {
      await expect(endMailAddress(realm.outside, given)).rejects.toThrow(
        'is not the email address of a channel',
      );
    }
  });
});

describe('mentions in mail', () => {
  it('notify users and groups that its user may notify, and are silent otherwise (specification 4.1 rule 3)', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const group = await givenGroup(realm, {
      members: [admin],
      settings: { can_mention_group: systemGroups.administrators.id },
    });
    const { channelId } = await givenChannel(realm);
    await givenCrowd(realm, channelId, 20);
    const body = `@**all** @*${group.name}* @**Adam Admin**`;
    const refused = await postedOf(
      realm,
      mail({ To: await addressOf(realm, member, channelId, { options: [] }) }, body),
    );
    expect(refused.content).toBe(`@_**all** @_*${group.name}* @_**Adam Admin**`);
    expect(await storedMessage(realm, refused.id)).not.toHaveProperty('mentions');
    const allowed = await postedOf(
      realm,
      mail({ To: await addressOf(realm, admin, channelId, { options: [] }) }, body),
    );
    expect(allowed.content).toBe(body.replace('@**all**', '@_**all**'));
    expect((await storedMessage(realm, allowed.id)).mentions).toEqual({
      groups: [group.groupId],
      users: [admin.userId],
    });
  });

  it.each(['all', 'everyone', 'channel', 'stream', 'topic'])(
    'never notify everybody by @**%s**, for any user of the address and however few readers',
    async (word) => {
      const realm = await newRealm();
      const { owner, member } = realm.people;
      const { channelId } = await givenChannel(realm, {}, [owner, member]);
      for (const person of [owner, member]) {
        const to = await addressOf(realm, person, channelId, { options: [] });
        const body = `@**${word}** and @**Max Member**, not \`@**${word}**\`.`;
        const { id, content } = await postedOf(realm, mail({ To: to }, body));
        expect(content).toContain(`@_**${word}** and @**Max Member**`);
        expect((await storedMessage(realm, id)).mentions).toEqual({ users: [member.userId] });
      }
    },
  );

  it('of everybody stay unchanged in code', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general, { options: [] });
    const body = 'Write `@**all**` to reach all.';
    expect((await postedOf(realm, mail({ To: to }, body))).content).toBe(body);
  });

  it('have no effect in the name of the sender, the subject and the names of files', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { topicsPolicy: 'empty_topic_only' });
    const to = await addressOf(realm, realm.people.admin, channelId);
    const { id } = await postedOf(
      realm,
      mail({ To: to, From: '"@**all**" <a@b.example>', Subject: '` @**all**' }, 'x'),
    );
    expect(await storedMessage(realm, id)).not.toHaveProperty('mentions');
  });

  it('do not reveal users whom a guest may not see (wire facts 3.8)', async () => {
    const realm = await newRealm();
    await givenRealmSettings(realm, { can_access_all_users_group: systemGroups.members.id });
    const { guest, member } = realm.people;
    const stranger = await givenUser(realm, { fullName: 'Sam Stranger' });
    const mentionsFrom = async (person: Person) => {
      const to = await addressOf(realm, person, realm.channels.general, { options: [] });
      const { id } = await postedOf(realm, mail({ To: to }, '@**Sam Stranger** @**Max Member**'));
      return (await storedMessage(realm, id)).mentions?.users?.toSorted();
    };
    expect(await mentionsFrom(guest)).toEqual([member.userId]);
    expect(await mentionsFrom(member)).toEqual([member.userId, stranger.userId].toSorted());
  });
});

describe('repeated mail', () => {
  it('makes one message, for two queue messages at once and a later one', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    const news = await arrived(realm, mail({ To: to }));
    const containers = Array.from({ length: 4 }, () => mailing(realm));
    for (const failed of await Promise.all(containers.map((container) => worked(container, news, news))))
      expect(failed).toEqual([]);
    expect(await postedIn(realm)).toHaveLength(1);
    const later = mailing(realm);
    expect(await worked(later, news)).toEqual([]);
    expect(later.reports).toMatchObject([{ reason: 'posted before' }]);
    expect(await postedIn(realm)).toHaveLength(1);
  });

  it('is recognized for longer than it can wait: four days in the queue, and fourteen as a dead letter', async () => {
    const realm = await newRealm();
    await postedOf(realm, mail({ To: await addressOf(realm, realm.people.member, realm.channels.general) }));
    const userId = await noticeBotOf(realm);
    const [sent] = await realm.outside.table.all('sent', { realm: realm.realm, userId });
    expect((sent?.expires ?? 0) - realm.outside.now() / 1000).toBeGreaterThan(18 * 24 * 3600);
  });

  it('is distinguished from other mail that starts the same topic at the same moment', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    const news = await Promise.all(
      Array.from({ length: 5 }, (_, i) => arrived(realm, mail({ To: to, Subject: 'new' }, `${i}`))),
    );
    const failed = await Promise.all(news.map((body) => worked(mailing(realm), body)));
    expect(failed.flat()).toEqual([]);
    expect(await postedIn(realm)).toHaveLength(5);
    expect(await storedTopic(realm, realm.channels.general, 'new')).toMatchObject({
      arrived: 5,
      participants: 1,
    });
  });

  it('is recognized by its id, unless its content differs', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    const one = mail({ To: to, 'Message-ID': '<1@outside.example>' });
    await postedOf(realm, one);
    expect((await received(realm, `Received: by list.example; now\r\n${one}`)).dropped).toEqual([
      'posted before',
    ]);
    await postedOf(realm, mail({ To: to, 'Message-ID': '<1@outside.example>' }, 'Something else.'));
  });

  it('is recognized by its key in the bucket if it has no id', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    const anonymous = `From: a@b.example\r\nTo: ${to}\r\n\r\nalarm`;
    const news = await arrived(realm, anonymous);
    await worked(mailing(realm), news);
    await worked(mailing(realm), news);
    expect(await postedIn(realm)).toHaveLength(1);
    await postedOf(realm, anonymous);
  });

  it('is completed after a worker died at any of its calls to the store', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    for (let nth = 1; ; nth++) {
      const { channelId } = await givenChannel(realm);
      const addresses = [
        await addressOf(realm, member, channelId),
        await addressOf(realm, member, realm.channels.random),
      ];
      const news = await arrived(realm, mail({ To: addresses.join(', '), Subject: `${nth}` }));
      const before = (await postedIn(realm)).length;
      let calls = 0;
      const dying = mailing(realm, (store) => async (command) => {
        const number = ++calls;
        if (number > nth) throw Object.assign(new Error('dead'), { name: 'AccessDeniedException' });
        const answer = await store(command);
        if (number === nth) throw Object.assign(new Error('died'), { name: 'AccessDeniedException' });
        return answer;
      });
      const failed = await worked(dying, news);
      expect(await worked(mailing(realm), news)).toEqual([]);
      const posted = (await postedIn(realm)).slice(before);
      expect(posted.map((message) => message.channelId).toSorted()).toEqual(
        [channelId, realm.channels.random].toSorted(),
      );
      if (failed.length === 0) break;
    }
  });
});

describe('the worker of mail', () => {
  it('accepts the test message of S3, and returns unreadable messages to the queue', async () => {
    const container = mailing(await newRealm());
    const test = JSON.stringify({ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: 'x' });
    const strange = ['no JSON', '{"Records":[{}]}'];
    expect(await worked(container, test, ...strange)).toEqual(strange);
  });

  it('handles the other messages of a batch if one fails', async () => {
    const realm = await newRealm();
    const to = await addressOf(realm, realm.people.member, realm.channels.general);
    const bodies = [
      await arrived(realm, mail({ To: to })),
      'no JSON',
      await arrived(realm, mail({ To: to })),
    ];
    expect(await worked(mailing(realm), ...bodies)).toEqual(['no JSON']);
    expect(await postedIn(realm)).toHaveLength(2);
  });
});
