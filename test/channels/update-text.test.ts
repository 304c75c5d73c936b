import { describe, expect, it } from 'vitest';
import { handler as getId } from '../../functions/channels/getId.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import {
  edit,
  edited,
  expectRefused,
  noticesAfter,
  storedChannel,
  toldOfChannels,
} from '../support/channel-state.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';
import { channelIdOf } from '../support/subscription-state.ts';

describe('the name of a channel (specification 4.2, wire facts 4.4)', () => {
  it('is trimmed, and the channel is found only under the new name (4.2/new_name)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'old' });
    await edited(realm, admin, channelId, { new_name: '  New Name ' });
    expect((await storedChannel(realm, channelId)).name).toBe('New Name');
    const found = await realm.call(getId, member, undefined, { query: { stream: 'new name' } });
    expect(found.body.stream_id).toBe(channelId);
    expect((await realm.call(getId, member, undefined, { query: { stream: 'old' } })).status).toBe(400);
    // The old name is free for another channel.
    await realm.call(subscribe, member, { subscriptions: [{ name: 'Old' }] });
    expect(await channelIdOf(realm, 'old')).not.toBe(channelId);
  });

  it('cannot be "same as current exactly", but can change its case', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'kitchen' });
    await expectRefused(realm, admin, channelId, { new_name: 'kitchen' });
    await expectRefused(realm, admin, channelId, { new_name: ' kitchen ' });
    await edited(realm, admin, channelId, { new_name: 'KITCHEN' });
    expect(await channelIdOf(realm, 'kitchen')).toBe(channelId);
    expect((await storedChannel(realm, channelId)).name).toBe('KITCHEN');
  });

  it('must be free, "case-insensitively including archived channels"', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm);
    await givenChannel(realm, { name: 'Straße' });
    await givenChannel(realm, { name: 'attic', isArchived: true });
    for (const name of ['straße', 'STRASSE', 'Attic', ' attic']) {
      await expectRefused(realm, admin, channelId, { new_name: name });
    }
  });

  it('is refused without details if the caller cannot see the channel that has it', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const groups = {
      can_administer_channel_group: { direct_members: [member.userId], direct_subgroups: [] },
    };
    const { channelId } = await givenChannel(realm, { groups });
    const hidden = await givenChannel(realm, { name: 'Secret plans', isPrivate: true });
    const taken = await edit(realm, admin, channelId, { new_name: 'secret plans' });
    const denied = await edit(realm, member, channelId, { new_name: 'secret plans' });
    expect([taken.body.code, denied.body.code]).toEqual(['BAD_REQUEST', 'BAD_REQUEST']);
    expect(taken.body.msg).toContain('Secret plans');
    expect(denied.body).toEqual({
      result: 'error',
      code: 'BAD_REQUEST',
      msg: 'You do not have permission to do this.',
    });
    expect(await channelIdOf(realm, 'secret plans')).toBe(hidden.channelId);
  });

  it.each([
    ['blank', '   '],
    ['empty', ''],
    ['over 60', 'x'.repeat(61)],
    ['unprintable', 'a\u0007b'],
  ])('cannot be %s (4.2/new_name-length)', async (_, name) => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await expectRefused(realm, realm.people.admin, channelId, { new_name: name });
  });

  it('may have 60 code points, and the refusal of an unprintable one gives its position (4.2/new_name-length)', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await edited(realm, realm.people.admin, channelId, { new_name: '🍲'.repeat(60) });
    const { body } = await edit(realm, realm.people.admin, channelId, { new_name: '🍲a\u0007' });
    expect(body.msg).toContain('position 3');
  });

  it('is sent in an event, and in a notice to the channel with the old name (wire facts 4.6, 4.7)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, { name: 'old' });
    const before = await lastNumber(realm);
    await edited(realm, admin, channelId, { new_name: 'new', folder_id: null, description: 'x' });
    const at = { type: 'stream', op: 'update', stream_id: channelId };
    expect(await toldOfChannels(realm, before)).toEqual([
      { ...at, name: 'old', property: 'description', value: 'x', rendered_description: '<p>x</p>' },
      { ...at, name: 'old', property: 'name', value: 'new' },
    ]);
    expect((await noticesAfter(realm, before)).at(-1)).toEqual({
      topic: 'channel events',
      content: `@_**Adam Admin|${admin.userId}** renamed this channel from \`old\` to \`new\`.`,
    });
  });
});

describe('the description of a channel (specification 4.2, wire facts 4.4)', () => {
  it('is Markdown in one line: "newlines replaced by spaces" (4.2/description)', async () => {
    const realm = await newRealm();
    const { admin, member } = realm.people;
    const { channelId } = await givenChannel(realm);
    await edited(realm, admin, channelId, { description: 'For **cooks**\r\nand\n@**Max Member**' });
    const stored = await storedChannel(realm, channelId);
    expect(stored.description).toBe('For **cooks** and @**Max Member**');
    expect(stored.renderedDescription).toContain('<strong>cooks</strong>');
    expect(stored.renderedDescription).toContain(`data-user-id="${member.userId}"`);
  });

  it('has at most 1024 characters, and the empty string clears it (4.2/description-length)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, {
      description: 'old',
      renderedDescription: '<p>old</p>',
    });
    await expectRefused(realm, admin, channelId, { description: 'x'.repeat(1025) });
    await edited(realm, admin, channelId, { description: '🍲'.repeat(1024) });
    await edited(realm, admin, channelId, { description: '' });
    expect(await storedChannel(realm, channelId)).toMatchObject({ description: '', renderedDescription: '' });
  });

  it('is plain text like the name, not JSON (9/level-64)', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm);
    await edited(realm, realm.people.admin, channelId, { description: '"for cooks"', new_name: '"7"' });
    expect(await storedChannel(realm, channelId)).toMatchObject({ description: '"for cooks"', name: '"7"' });
  });

  it('does not link a channel that its author cannot see', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const groups = {
      can_administer_channel_group: { direct_members: [member.userId], direct_subgroups: [] },
    };
    const { channelId } = await givenChannel(realm, { groups });
    const hidden = await givenChannel(realm, { name: 'secret', isPrivate: true });
    await edited(realm, member, channelId, { description: 'see #**secret** and #**general**' });
    const { renderedDescription } = await storedChannel(realm, channelId);
    expect(renderedDescription).not.toContain(String(hidden.channelId));
    expect(renderedDescription).toContain('#<strong>secret</strong>');
    expect(renderedDescription).toContain(`data-stream-id="${realm.channels.general}"`);
  });

  it('is quoted in a notice to the channel, old and new, which notifies nobody (wire facts 4.7)', async () => {
    const realm = await newRealm();
    const { admin } = realm.people;
    const { channelId } = await givenChannel(realm, { description: 'for @**all**' });
    const before = await lastNumber(realm);
    await edited(realm, admin, channelId, { description: '``` for cooks' });
    const [notice] = await noticesAfter(realm, before);
    expect(notice?.content).toContain('> for @**all**');
    expect(notice?.content).toContain('> ``` for cooks');
  });
});
