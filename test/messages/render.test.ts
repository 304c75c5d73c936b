import { describe, expect, it } from 'vitest';
import { handler as render } from '../../functions/messages/render.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { designBudgets } from '../support/design-budgets.ts';
import { givenChannel, givenEmoji, givenRealmSettings, givenUser } from '../support/given.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';
import { lastNumber } from '../support/stored.ts';

const rendered = async (realm: TestRealm, as: Person, content: string): Promise<string> => {
  const { status, body } = await realm.call(render, as, { content });
  expect([status, body.msg]).toEqual([200, '']);
  return body.rendered;
};

describe('POST /messages/render (companion facts 1.7)', () => {
  it('renders a text like a message, and sends no event', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    await givenEmoji(realm, 'parrot');
    const last = await lastNumber(realm);
    const html = await rendered(realm, member, '**a** @**Adam Admin** #**general** :parrot:');
    expect(html).toContain('<strong>a</strong>');
    expect(html).toContain(`data-user-id="${admin.userId}"`);
    expect(html).toContain(`data-stream-id="${realm.channels.general}"`);
    expect(html).toContain('title="parrot"');
    expect(await lastNumber(realm)).toBe(last);
    expect(await rendered(realm, member, '')).toBe('');
    const long = Array(5_000).fill('word').join(' ');
    expect(await rendered(realm, member, long)).toBe(`<p>${long}</p>`);
  });

  it('does not resolve what the caller may not see', async () => {
    const realm = await newRealm();
    const { member, guest } = realm.people;
    const { channelId, name } = await givenChannel(realm, { isPrivate: true }, [member]);
    expect(await rendered(realm, member, `#**${name}**`)).toContain(`data-stream-id="${channelId}"`);
    expect(await rendered(realm, guest, `#**${name}**`)).not.toContain('data-stream-id');
    await givenRealmSettings(realm, { can_access_all_users_group: systemGroups.members.id });
    const stranger = await givenUser(realm, { fullName: 'Very Secret' });
    const mention = `@**Very Secret|${stranger.userId}**`;
    expect(await rendered(realm, member, mention)).toContain('data-user-id');
    expect(await rendered(realm, guest, mention)).not.toContain('data-user-id');
  });

  it('takes two round trips at most, and refuses a text of more than 100,000 characters', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    const container = realm.container();
    await rendered(container, member, '@**Adam Admin**');
    container.meter.reset();
    await rendered(container, member, '@**Adam Admin**');
    expect(container.meter.roundTrips).toBeLessThanOrEqual(designBudgets.readTrips);
    const { status, body } = await realm.call(render, member, { content: 'a'.repeat(100_001) });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
