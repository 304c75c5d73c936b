import { expect } from 'vitest';
import { handler as subscribe } from '../../../functions/subscriptions/add.ts';
import { handler as change } from '../../../functions/subscriptions/change.ts';
import { handler as unsubscribe } from '../../../functions/subscriptions/remove.ts';
import { handler as setProperties } from '../../../functions/subscriptions/setProperties.ts';
import { handler as setProperty } from '../../../functions/subscriptions/setProperty.ts';
import { createFolder } from '../../support/folder-state.ts';
import { givenChannel, givenGroup } from '../../support/given.ts';
import { sent } from '../../support/messages.ts';
import { changed } from '../../support/realm-state.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

const quiet = { send_new_subscription_messages: false };

export const subscriptionCases: readonly Case[] = [
  {
    title: 'channels are created, public and private, with people in them',
    calls: [subscribe],
    run: async (realm) => {
      const { owner, member, guest, admin } = realm.people;
      const folder_id = await createFolder(realm, 'Kitchen');
      const { settle } = await follow(realm);
      const principals = [member.userId, owner.userId];
      await done(realm, subscribe, member, {
        subscriptions: [{ name: 'Tea', description: '*hot*' }, { name: 'Cake' }],
        principals,
        folder_id,
      });
      await settle();
      await done(realm, subscribe, member, {
        subscriptions: [{ name: 'Secret' }],
        invite_only: true,
        principals: [member.userId, guest.userId],
        ...quiet,
      });
      const heard = await settle();
      expect(heard.owner?.map(({ op }) => op)).toEqual(['create', 'peer_add']);
      await done(realm, subscribe, admin, {
        subscriptions: [{ name: 'Default' }],
        is_default_stream: true,
        can_send_message_group: 2,
        ...quiet,
      });
      await settle();
    },
  },
  {
    title: 'a channel that is created is announced (issue 3)',
    calls: [subscribe],
    run: async (realm) => {
      const { owner, member } = realm.people;
      await changed(realm, owner, { new_stream_announcements_stream_id: realm.channels.general });
      const { settle } = await follow(realm);
      await done(realm, subscribe, member, { subscriptions: [{ name: 'Tea' }], announce: true });
      await settle();
    },
  },
  {
    title: 'people come to public and private channels, by themselves and by others',
    calls: [subscribe],
    run: async (realm) => {
      const { owner, member, guest, admin } = realm.people;
      const { groupId } = await givenGroup(realm, { members: [admin] });
      const open = await givenChannel(realm, {}, [owner]);
      const closed = await givenChannel(realm, { isPrivate: true }, [owner]);
      const mine = await givenChannel(
        realm,
        { isPrivate: true, groups: { can_subscribe_group: groupId } },
        [],
      );
      await sent(realm, owner, { to: open.channelId });
      const { settle } = await follow(realm, [['member', 'plain']]);
      await done(realm, subscribe, member, { subscriptions: [{ name: open.name, color: '#123456' }] });
      await settle();
      await done(realm, subscribe, owner, {
        subscriptions: [{ name: open.name }, { name: closed.name }],
        principals: [guest.userId, member.userId],
        ...quiet,
      });
      await settle();
      await done(realm, subscribe, admin, { subscriptions: [{ name: mine.name }] });
      const heard = await settle();
      expect(heard.member).toBeUndefined();
      expect(heard.guest).toBeUndefined();
    },
  },
  {
    title: 'people leave channels, and what they had not read is gone',
    calls: [unsubscribe, subscribe],
    run: async (realm) => {
      const { owner, member, guest, admin } = realm.people;
      const open = await givenChannel(realm, {}, [owner, member, guest]);
      const closed = await givenChannel(realm, { isPrivate: true }, [owner, member, guest, admin]);
      const names = [open.name, closed.name];
      const { settle } = await follow(realm, [['member', 'old']]);
      for (const { channelId } of [open, closed]) await sent(realm, owner, { to: channelId }, '@**all**');
      await settle();
      await done(realm, unsubscribe, member, { subscriptions: names });
      await settle();
      await done(realm, unsubscribe, owner, {
        subscriptions: names,
        principals: [guest.userId, admin.userId],
      });
      await settle();
      await sent(realm, owner, { to: closed.channelId });
      expect(Object.keys(await settle())).toEqual(['owner']);
      await done(realm, subscribe, owner, {
        subscriptions: names.map((name) => ({ name })),
        principals: [member.userId, guest.userId],
        ...quiet,
      });
      await settle();
    },
  },
  {
    title: 'what somebody chooses for a channel is told to nobody else',
    calls: [setProperties],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { general: stream_id, random } = realm.channels;
      await sent(realm, owner, { to: stream_id });
      const { settle } = await follow(realm);
      const set = (choices: Readonly<Record<string, unknown>>) =>
        done(realm, setProperties, member, {
          subscription_data: Object.entries(choices).map(([property, value]) => ({
            stream_id,
            property,
            value,
          })),
        });
      await set({ is_muted: true, color: '#abcdef', pin_to_top: true, desktop_notifications: false });
      expect(Object.keys(await settle())).toEqual(['member']);
      await set({ in_home_view: true, push_notifications: true });
      await sent(realm, owner, { to: random });
      await settle();
    },
  },
  {
    title:
      'somebody joins channels and leaves others at once, and changes one setting of one (companion facts 3.6)',
    calls: [change, setProperty],
    run: async (realm) => {
      const { member, owner } = realm.people;
      await givenChannel(realm, { name: 'other' }, [owner]);
      const { settle } = await follow(realm);
      await done(realm, change, member, { add: [{ name: 'other' }, { name: 'new' }], delete: ['general'] });
      await settle();
      const path = { stream_id: realm.channels.random };
      await done(realm, setProperty, member, { property: 'pin_to_top', value: true }, { path });
      await settle();
    },
  },
];
