import { describe, expect, it } from 'vitest';
import { handler as listGroups } from '../../functions/userGroups/list.ts';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import { deprecated } from '../support/client-state/shown.ts';
import { givenDomain, removeDomain, updateDomain } from '../support/domain-state.ts';
import { type Client, type Event, givenClient } from '../support/event-queue.ts';
import { givenBot, givenChangedUser, givenChannel, givenUser } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { changed } from '../support/realm-state.ts';

const { owners, administrators, members, nobody, fullMembers } = systemGroups;
const DAY = 86_400_000;

const types = ['realm', 'realm_domains'];
const both = { event_types: types, fetch_event_types: types };

/** The state of the organization after an event, as clients work it out. */
function applied(state: Record<string, unknown>, event: Event): Record<string, unknown> {
  if (event.type === 'realm') {
    const data = event.op === 'update_dict' ? event.data : { [event.property]: event.value };
    const named = Object.entries(data).map(([name, value]) => [`realm_${name}`, value]);
    return { ...state, ...Object.fromEntries(named.filter(([name]) => String(name) in state)) };
  }
  const list = state.realm_domains as { readonly domain: string }[];
  const domain = event.op === 'remove' ? event.domain : event.realm_domain.domain;
  const others = list.filter((each) => each.domain !== domain);
  if (event.op === 'add') return { ...state, realm_domains: [...list, event.realm_domain] };
  return { ...state, realm_domains: event.op === 'remove' ? others : [...others, event.realm_domain] };
}

/** What differs between two registrations by itself. */
const settled = ({
  queue_id: _,
  last_event_id: __,
  max_message_id: ___,
  ...state
}: Client['state']): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(state).filter(([name]) => !deprecated.includes(name))),
  server_timestamp: 0,
});

describe('the state after the events (DESIGN 5)', () => {
  it('is the state of a new registration, whatever was changed', async () => {
    const realm = await newRealm();
    const { owner, guest } = realm.people;
    const { channelId } = await givenChannel(realm, { isPrivate: true });
    const listed = { direct_members: [guest.userId], direct_subgroups: [nobody.id] };
    const steps: (() => Promise<unknown>)[] = [
      () =>
        changed(realm, owner, {
          name: 'Ants',
          description: 'We carry.',
          topics_policy: 'disable_empty_topic',
          message_edit_history_visibility_policy: 'none',
          enable_spectator_access: true,
          message_retention_days: '7',
          moderation_request_channel_id: channelId,
          new_stream_announcements_stream_id: realm.channels.general,
          owner_full_content_access: true,
          emails_restricted_to_domains: true,
          invite_required: false,
          send_channel_events_messages: false,
          enable_read_receipts: true,
          inline_image_preview: false,
          presence_disabled: true,
          name_changes_disabled: true,
          avatar_changes_disabled: true,
          allow_message_editing: false,
          message_content_edit_limit_seconds: 'unlimited',
          message_content_delete_limit_seconds: 'unlimited',
          move_messages_within_stream_limit_seconds: 'unlimited',
          move_messages_between_streams_limit_seconds: '60',
          can_mention_many_users_group: { new: nobody.id },
          can_resolve_topics_group: { new: listed },
          can_create_web_public_channel_group: { new: administrators.id },
          can_create_groups: { new: owners.id },
          can_access_all_users_group: { new: members.id },
        }),
      () => changed(realm, owner, { topics_policy: 'allow_empty_topic' }),
      () => givenDomain(realm, 'ant.example'),
      () => givenDomain(realm, 'bee.example', true),
      () => updateDomain(realm, owner, 'bee.example', false),
      () => removeDomain(realm, owner, 'ant.example'),
      () => removeDomain(realm, owner, 'bee.example'),
      () => changed(realm, owner, { message_edit_history_visibility_policy: 'moves' }),
    ];
    const client = await givenClient(realm, guest, both);
    let state = settled(client.state);
    for (const step of steps) {
      await step();
      for (const event of await client.poll()) state = applied(state, event);
      const { state: fetched } = await givenClient(realm, guest, both);
      expect(state).toEqual(settled(fetched));
    }
    expect(state).toMatchObject({ realm_mandatory_topics: false, realm_emails_restricted_to_domains: false });
  });
});

describe('a change of the waiting period', () => {
  /** The full members as the list of groups shows them. */
  const fullMembersOf = async (realm: TestRealm): Promise<number[]> => {
    const { body } = await realm.call(listGroups, realm.people.member);
    const groups: { id: number; members: number[] }[] = body.user_groups;
    return [...(groups.find(({ id }) => id === fullMembers.id)?.members ?? [])].sort((a, b) => a - b);
  };

  it('sends events for users who become full members or stop being ones, and for no others', async () => {
    const realm = await newRealm({ waiting_period_threshold: 3 });
    const { owner, member } = realm.people;
    const ago = (days: number) => new Date(realm.outside.now() - days * DAY).toISOString();
    for (const days of [0, 1, 2.5, 5, 9, 11]) {
      const person = await givenUser(realm, { dateJoined: ago(days) });
      if (days === 9) await givenChangedUser(realm, await givenBot(realm, person), { dateJoined: ago(8) });
    }
    await givenChangedUser(realm, await givenUser(realm, { dateJoined: ago(5) }), { isActive: false });
    await givenUser(realm, { dateJoined: ago(5), role: 300 });
    const client = await givenClient(realm, member, { event_types: ['user_group'] });
    const known = new Set(await fullMembersOf(realm));
    for (const days of [10, 1, 0, 100, 3, 3]) {
      await changed(realm, owner, { waiting_period_threshold: days });
      for (const event of await client.poll()) {
        expect(event).toMatchObject({ type: 'user_group', group_id: fullMembers.id });
        for (const userId of event.user_ids) {
          expect(known.has(userId)).toBe(event.op === 'remove_members');
          if (event.op === 'add_members') known.add(userId);
          else known.delete(userId);
        }
      }
      expect([...known].sort((a, b) => a - b)).toEqual(await fullMembersOf(realm));
    }
  });

  it('sends no event if nobody joined in between', async () => {
    const realm = await newRealm();
    const { owner, member } = realm.people;
    const client = await givenClient(realm, member, { event_types: ['user_group'] });
    await changed(realm, owner, { waiting_period_threshold: 1000 });
    expect(await client.poll()).toHaveLength(1);
    await changed(realm, owner, { waiting_period_threshold: 2000 });
    expect(await client.poll()).toEqual([]);
  });

  it('reads no users, however many there are', async () => {
    const realm = await newRealm();
    const { owner } = realm.people;
    const container = realm.container();
    const callsFor = async (given: object): Promise<string[]> => {
      container.meter.reset();
      await changed(container, owner, { ...given });
      return container.meter.calls.map(({ action }) => action).sort();
    };
    await callsFor({ name: 'Warm' });
    expect(await callsFor({ waiting_period_threshold: 30 })).toEqual(await callsFor({ name: 'Ants' }));
  });
});
