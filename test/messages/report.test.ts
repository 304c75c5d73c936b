import { describe, expect, it } from 'vitest';
import { handler as archive } from '../../functions/channels/archive.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as listMessages } from '../../functions/messages/list.ts';
import { handler as report } from '../../functions/messages/report.ts';
import { givenBot, givenChannel, givenRealmSettings } from '../support/given.ts';
import { sent } from '../support/messages.ts';
import { deliver, leftIn, messagesOf, workedOff } from '../support/outbox.ts';
import { newRealm, type Person, type Reply, type TestRealm } from '../support/realm.ts';

/** An organization with a channel for moderators, which has the owner and the moderator. */
async function moderated(): Promise<{ realm: TestRealm; moderation: number }> {
  const realm = await newRealm();
  const { owner, moderator } = realm.people;
  const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner, moderator]);
  await givenRealmSettings(realm, { moderation_request_channel_id: channelId });
  return { realm, moderation: channelId };
}

const ask = (
  realm: TestRealm,
  as: Person,
  message_id: number | string,
  parameters: Readonly<Record<string, string>> = { report_type: 'spam' },
): Promise<Reply> => realm.call(report, as, parameters, { path: { message_id } });

interface Shown {
  readonly subject: string;
  readonly content: string;
  readonly sender_id: number;
}

/** The messages of a channel, newest last, as HTML or as Markdown. */
async function messagesIn(realm: TestRealm, channel: number, apply_markdown = true): Promise<Shown[]> {
  const narrow = [{ operator: 'channel', operand: channel }];
  const query = { anchor: 'newest', num_before: 20, num_after: 0, narrow, apply_markdown };
  const { body } = await realm.call(listMessages, realm.people.moderator, {}, { query });
  return body.messages;
}

describe('a reported message (companion facts 1.10)', () => {
  it('is quoted behind a spoiler in the channel for moderators, with a link and silent mentions', async () => {
    const { realm, moderation } = await moderated();
    const { guest, member } = realm.people;
    const { channelId, name } = await givenChannel(realm, {}, [guest, member]);
    const id = await sent(realm, member, { to: channelId, topic: 'lunch' }, 'buy **this** @**all**');
    const reply = await ask(realm, guest, id, { report_type: 'norms', description: 'Twice today.' });
    expect([reply.status, reply.body]).toEqual([200, { result: 'success', msg: '' }]);
    await workedOff(realm);
    const [notice] = await messagesIn(realm, moderation);
    expect(notice?.subject).toBe('Max Member: moderation requests');
    const html = notice?.content ?? '';
    for (const { userId } of [guest, member]) {
      expect(html).toContain(`<span class="user-mention silent" data-user-id="${userId}">`);
    }
    expect(html).toContain(`#${name} &gt; lunch @`);
    expect(html).toContain(`/near/${id}"`);
    expect(html).toContain('Violation of community norms');
    expect(html).toMatch(/<blockquote>\s*<p>Twice today.<\/p>/);
    expect(html).toMatch(
      /class="spoiler-block"[\s\S]*buy <strong>this<\/strong> .*channel-wildcard-mention silent/,
    );
  });

  it('may be a direct message, which gets no link', async () => {
    const { realm, moderation } = await moderated();
    const { guest, member } = realm.people;
    const id = await sent(realm, member, { people: [guest] }, 'psst');
    expect((await ask(realm, guest, id)).status).toBe(200);
    await workedOff(realm);
    const [notice] = await messagesIn(realm, moderation);
    expect(notice?.content).toContain('reported a direct message of');
    expect(notice?.content).toContain('psst');
    expect(notice?.content).not.toContain('<a ');
  });

  it('is quoted literally and truncated, whatever fences the message and the description contain', async () => {
    const { realm, moderation } = await moderated();
    const { guest, member } = realm.people;
    const { general } = realm.channels;
    const id = await sent(
      realm,
      member,
      { to: general },
      `\`\`\`\`quote\nopen\n\`\`\`\n${'x'.repeat(9_950)}`,
    );
    const description = '```quote\nopen, too\n````spoiler here';
    expect((await ask(realm, guest, id, { report_type: 'other', description })).status).toBe(200);
    await workedOff(realm);
    const [[html], [markdown]] = [
      await messagesIn(realm, moderation),
      await messagesIn(realm, moderation, false),
    ];
    expect(html?.content.match(/class="spoiler-block"/g)?.length).toBe(2);
    expect(html?.content).toMatch(/<\/blockquote>\s*<div class="spoiler-block">/);
    expect(markdown?.content.length).toBeLessThan(10_000);
    expect(markdown?.content).toContain('[message cut at the length limit]');
  });

  it('causes one notice, however often the job runs, and one more for each further report', async () => {
    const { realm, moderation } = await moderated();
    const { guest, member } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general });
    await ask(realm, guest, id);
    const messages = messagesOf(await leftIn(realm));
    await Promise.all([deliver(realm, messages), deliver(realm.container(), messages)]);
    await deliver(realm, messages);
    expect(await messagesIn(realm, moderation)).toHaveLength(1);
    await ask(realm, guest, id);
    await workedOff(realm);
    expect(await messagesIn(realm, moderation)).toHaveLength(2);
  });

  it('causes no notice once the channel is archived', async () => {
    const { realm, moderation } = await moderated();
    const { owner, guest, member } = realm.people;
    const id = await sent(realm, member, { to: realm.channels.general });
    await ask(realm, guest, id);
    await realm.call(archive, owner, {}, { path: { stream_id: moderation } });
    await workedOff(realm);
    expect((await messagesIn(realm, moderation)).map(({ subject }) => subject)).toEqual(['channel events']);
    expect((await ask(realm, guest, id)).body.code).toBe('BAD_REQUEST');
  });
});

describe('the refusal of a report', () => {
  it('names a missing description first, then the missing channel, then the message (companion facts 1.10)', async () => {
    const realm = await newRealm();
    const { guest, member } = realm.people;
    const reasons = [];
    for (const parameters of [{ report_type: 'other' }, { report_type: 'spam' }]) {
      reasons.push((await ask(realm, guest, 999_999, parameters)).body.msg);
    }
    const { channelId } = await givenChannel(realm, { isPrivate: true }, [realm.people.moderator]);
    await givenRealmSettings(realm, { moderation_request_channel_id: channelId });
    reasons.push((await ask(realm, guest, 999_999)).body.msg);
    expect(reasons[0]).toContain("needs a 'description'");
    expect(reasons[1]).toContain('does not take reports');
    expect(reasons[2]).toBe('Invalid message(s).');
    const hidden = await sent(realm, member, { people: [realm.people.owner] });
    expect((await ask(realm, guest, hidden)).body.msg).toBe('Invalid message(s).');
    expect(await leftIn(realm)).toEqual([]);
  });

  it.each([
    [{}, 'REQUEST_VARIABLE_MISSING'],
    [{ report_type: 'rude' }, 'BAD_REQUEST'],
    [{ report_type: 'other', description: ' \n ' }, 'BAD_REQUEST'],
    [{ report_type: 'spam', description: 'x'.repeat(1_001) }, 'BAD_REQUEST'],
    [{ report_type: 'spam', description: 'a\u0000b' }, 'BAD_REQUEST'],
  ] as const)('comes for %o', async (parameters, code) => {
    const { realm } = await moderated();
    const id = await sent(realm, realm.people.member, { to: realm.channels.general });
    const { status, body } = await ask(realm, realm.people.guest, id, parameters);
    expect([status, body.code]).toEqual([400, code]);
    expect(await leftIn(realm)).toEqual([]);
  });

  it('does not come for a report by a bot, or for a description of 1,000 characters', async () => {
    const { realm } = await moderated();
    const bot = await givenBot(realm, realm.people.member);
    const { channelId } = await givenChannel(realm, {}, [realm.people.member, bot]);
    const id = await sent(realm, realm.people.member, { to: channelId });
    const description = '🐝'.repeat(1_000);
    expect((await ask(realm, bot, id, { report_type: 'spam', description })).status).toBe(200);
  });
});

it('the state of registration lists the reasons for a report that clients show', async () => {
  const realm = await newRealm();
  const { body } = await realm.call(register, realm.people.guest, { fetch_event_types: ['realm'] });
  expect(body.server_report_message_types.map(({ key }: { key: string }) => key)).toEqual([
    'spam',
    'harassment',
    'inappropriate',
    'norms',
    'other',
  ]);
});
