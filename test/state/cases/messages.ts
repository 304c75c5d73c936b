import { expect } from 'vitest';
import { handler as remove } from '../../../functions/messages/delete.ts';
import { handler as markAll } from '../../../functions/messages/markAllAsRead.ts';
import { handler as markChannel } from '../../../functions/messages/markChannelAsRead.ts';
import { handler as markTopic } from '../../../functions/messages/markTopicAsRead.ts';
import { handler as render } from '../../../functions/messages/render.ts';
import { handler as report } from '../../../functions/messages/report.ts';
import { handler as send } from '../../../functions/messages/send.ts';
import { handler as update } from '../../../functions/messages/update.ts';
import { handler as updateFlags } from '../../../functions/messages/updateFlags.ts';
import { handler as markNarrow } from '../../../functions/messages/updateFlagsForNarrow.ts';
import { handler as react } from '../../../functions/reactions/add.ts';
import { handler as unreact } from '../../../functions/reactions/remove.ts';
import { handler as addSubmessage } from '../../../functions/submessages/add.ts';
import { handler as deleteTopic } from '../../../functions/topics/delete.ts';
import { handler as mute } from '../../../functions/topics/mute.ts';
import { handler as setVisibility } from '../../../functions/topics/setVisibility.ts';
import { handler as type } from '../../../functions/typing/send.ts';
import { handler as typeEdit } from '../../../functions/typing/sendEdit.ts';
import { givenChannel } from '../../support/given.ts';
import { sent } from '../../support/messages.ts';
import { THUMB } from '../../support/reactions.ts';
import type { Person, TestRealm } from '../../support/realm.ts';
import { changed } from '../../support/realm-state.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';
import { settings } from './settings.ts';

const change = (realm: TestRealm, as: Person, message_id: number, given: object) =>
  done(realm, update, as, { ...given }, { path: { message_id } });

export const messageCases: readonly Case[] = [
  {
    title: 'messages of all kinds are counted as unread, with their mentions',
    calls: [send],
    run: async (realm) => {
      const { owner, admin, member, guest } = realm.people;
      const { general, random } = realm.channels;
      const { settle } = await follow(realm);
      await sent(realm, owner, { to: general, topic: 'A' }, '@**Max Member** and @_**Gus Guest**');
      await sent(realm, owner, { to: general, topic: 'a' }, '@**all**');
      await sent(realm, admin, { to: random, topic: '' });
      await settle();
      await sent(realm, admin, { people: [member] });
      await sent(realm, member, { people: [admin, guest] });
      const self = await sent(realm, member, { people: [member] });
      const heard = await settle();
      const isSelf = (event: { readonly message?: { readonly id: number } }) => event.message?.id === self;
      expect(heard.member?.filter(isSelf)).toHaveLength(1);
      expect([...(heard.guest ?? []), ...(heard.admin ?? []), ...(heard.owner ?? [])].filter(isSelf)).toEqual(
        [],
      );
    },
  },
  {
    title: 'a message to a private channel is for its subscribers, and changes nothing for others',
    calls: [send],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner, member]);
      const { settle } = await follow(realm);
      await sent(realm, owner, { to: channelId });
      const heard = await settle();
      expect(heard.member).toHaveLength(1);
      expect(heard.guest ?? []).toEqual([]);
      expect(heard.admin ?? []).toEqual([]);
    },
  },
  {
    title: 'a topic that its sender follows by sending is told before the message (4.1)',
    calls: [send],
    run: async (realm) => {
      const { member } = realm.people;
      await settings(realm, member, { automatically_follow_topics_policy: 2 });
      const { settle } = await follow(realm);
      await sent(realm, member, { to: realm.channels.general, topic: 'Mine' });
      const heard = await settle();
      expect(heard.member?.slice(0, 2)).toMatchObject([
        { type: 'user_topic', topic_name: 'Mine', visibility_policy: 3 },
        { type: 'message' },
      ]);
    },
  },
  {
    title: 'a topic is deleted, with the policies for it (companion facts 4.5)',
    calls: [deleteTopic],
    run: async (realm) => {
      const { member, owner } = realm.people;
      const { general } = realm.channels;
      await settings(realm, member, { automatically_follow_topics_policy: 2 });
      for (const topic of ['Over', 'over', 'Other']) await sent(realm, member, { to: general, topic });
      const { settle } = await follow(realm);
      const path = { stream_id: general };
      await done(realm, deleteTopic, owner, { topic_name: 'OVER' }, { path });
      await settle();
    },
  },
  {
    title: 'an edit takes a mention away and brings another',
    calls: [update],
    run: async (realm) => {
      const { member } = realm.people;
      const id = await sent(realm, member, { to: realm.channels.general }, '@**Adam Admin**');
      const { settle } = await follow(realm);
      await change(realm, member, id, { content: '@**Olive Owner**' });
      await settle();
      await change(realm, member, id, { content: '@**all**' });
      await settle();
    },
  },
  {
    title: 'messages move to another topic, and their notices with them',
    calls: [update],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const { general } = realm.channels;
      const first = await sent(realm, member, { to: general, topic: 'here' });
      await sent(realm, admin, { to: general, topic: 'here' }, '@**all**');
      await done(realm, setVisibility, member, { stream_id: general, topic: 'here', visibility_policy: 3 });
      const { settle } = await follow(realm);
      await change(realm, admin, first, { topic: 'there', propagate_mode: 'change_all' });
      await settle();
      await change(realm, admin, first, { topic: '✔ there', propagate_mode: 'change_all' });
      await settle();
    },
  },
  {
    title: 'messages move to another channel, out of sight of some and into sight of others',
    calls: [update],
    run: async (realm) => {
      const { owner, member, admin } = realm.people;
      const { general } = realm.channels;
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner, member]);
      const ids = [
        await sent(realm, member, { to: general, topic: 'here' }),
        await sent(realm, admin, { to: general, topic: 'here' }),
      ] as const;
      const { settle } = await follow(realm);
      const move = { stream_id: channelId, topic: 'there', propagate_mode: 'change_all' };
      await change(realm, owner, ids[0], move);
      const heard = await settle();
      expect(heard.guest?.map(({ type }) => type)).toContain('delete_message');
      expect(JSON.stringify(heard.guest)).not.toContain('there');
      await change(realm, owner, ids[1], { stream_id: general, propagate_mode: 'change_one' });
      await settle();
    },
  },
  {
    title: 'messages are deleted, the first of a channel and the newest of a conversation among them',
    calls: [remove],
    run: async (realm) => {
      const { owner, member, admin } = realm.people;
      const { general } = realm.channels;
      const { settle } = await follow(realm);
      const first = await sent(realm, member, { to: general, topic: 'here' }, '@**all**');
      await sent(realm, member, { to: general, topic: 'here' });
      await sent(realm, member, { people: [admin] });
      const newest = await sent(realm, admin, { people: [member] });
      await done(realm, updateFlags, admin, { op: 'add', flag: 'starred', messages: [first] });
      await settle();
      await done(realm, remove, owner, {}, { path: { message_id: first } });
      await settle();
      await done(realm, remove, admin, {}, { path: { message_id: newest } });
      const heard = await settle();
      expect(heard.owner ?? []).toEqual([]);
    },
  },
  {
    title: 'flags come and go, and only their owner hears of it',
    calls: [updateFlags],
    run: async (realm) => {
      const { owner, member, guest } = realm.people;
      const { general } = realm.channels;
      const messages = [
        await sent(realm, owner, { to: general, topic: 'here' }, '@**Max Member**'),
        await sent(realm, owner, { to: general, topic: 'there' }),
        await sent(realm, owner, { people: [member] }),
        await sent(realm, owner, { people: [member, guest] }),
        await sent(realm, member, { people: [member] }),
      ];
      const { settle } = await follow(realm);
      for (const flag of ['read', 'starred']) {
        for (const op of ['add', 'remove']) {
          await done(realm, updateFlags, member, { op, flag, messages });
          const { member: heard = [], ...others } = await settle();
          expect(heard.length).toBeGreaterThan(0);
          expect(Object.keys(others)).toEqual([]);
        }
      }
    },
  },
  {
    title: 'an edit tells the flags that the message has just got',
    calls: [update, updateFlags],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const read = await sent(realm, owner, { to: realm.channels.general, topic: 'here' });
      const starred = await sent(realm, owner, { people: [member] });
      const { settle } = await follow(realm);
      await done(realm, updateFlags, member, { op: 'add', flag: 'read', messages: [read] });
      await done(realm, updateFlags, member, { op: 'add', flag: 'starred', messages: [starred] });
      await change(realm, owner, read, { content: 'read' });
      await change(realm, owner, starred, { content: 'starred' });
      await settle();
    },
  },
  {
    title: 'a topic wildcard mentions who has just come to take part',
    calls: [send, react],
    run: async (realm) => {
      const { owner, member, admin } = realm.people;
      const { general } = realm.channels;
      const first = await sent(realm, owner, { to: general, topic: 'here' });
      const { settle } = await follow(realm);
      await sent(realm, admin, { to: general, topic: 'here' });
      await done(realm, react, member, THUMB, { path: { message_id: first } });
      const id = await sent(realm, owner, { to: general, topic: 'here' }, '@**topic**');
      const heard = await settle();
      for (const events of [heard.admin, heard.member]) {
        expect(events?.find(({ message }) => message?.id === id)?.flags).toContain(
          'topic_wildcard_mentioned',
        );
      }
    },
  },
  {
    title: 'reactions stand with messages, of which the state tells none',
    calls: [react, unreact],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const message_id = await sent(realm, member, { people: [admin] });
      const { settle } = await follow(realm);
      await done(realm, react, admin, THUMB, { path: { message_id } });
      await done(realm, unreact, admin, THUMB, { path: { message_id } });
      const heard = await settle();
      expect(heard.member?.map(({ op }) => op)).toEqual(['add', 'remove']);
      expect(heard.owner).toBeUndefined();
    },
  },
  {
    title: 'submessages stand with messages',
    calls: [addSubmessage],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const message_id = await sent(realm, member, { people: [admin] }, '/poll Noon?');
      const { settle } = await follow(realm);
      const content = JSON.stringify({ type: 'new_option', idx: 1, option: 'One' });
      await done(realm, addSubmessage, admin, { message_id, msg_type: 'widget', content });
      const heard = await settle();
      expect(heard.member?.map(({ type }) => type)).toEqual(['submessage']);
      expect(heard.owner).toBeUndefined();
    },
  },
  {
    title: 'policies for topics silence what is unread',
    calls: [setVisibility, mute],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { general } = realm.channels;
      const { settle } = await follow(realm);
      await sent(realm, owner, { to: general, topic: 'Loud' }, '@**all**');
      await sent(realm, owner, { to: general, topic: '' });
      await settle();
      for (const [topic, visibility_policy] of [
        ['loud', 1],
        ['', 3],
        ['LOUD', 0],
        ['loud', 2],
      ] as const) {
        await done(realm, setVisibility, member, { stream_id: general, topic, visibility_policy });
        expect(Object.keys(await settle())).toEqual(['member']);
      }
      await done(realm, mute, member, { stream: 'general', topic: 'Loud', op: 'add' });
      expect(Object.keys(await settle())).toEqual(['member']);
    },
  },
  {
    title: 'a text that is only rendered has no event (companion facts 1.7)',
    calls: [render],
    run: async (realm) => {
      const { settle } = await follow(realm);
      await done(realm, render, realm.people.member, { content: '*Soup*' });
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'a report changes nothing until the outbox posts it (companion facts 1.10)',
    calls: [report],
    run: async (realm) => {
      const { member, owner } = realm.people;
      const { general } = realm.channels;
      const { channelId } = await givenChannel(realm, { isPrivate: true }, [owner]);
      await changed(realm, owner, { moderation_request_channel_id: channelId });
      const message_id = await sent(realm, owner, { to: general, topic: 'lunch' });
      const { settle } = await follow(realm);
      await done(realm, report, member, { report_type: 'spam' }, { path: { message_id } });
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'typing has an event and is never part of the state (companion facts 1.13)',
    calls: [type, typeEdit],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const message_id = await sent(realm, member, { people: [admin] });
      const { settle } = await follow(realm);
      await done(realm, type, member, { op: 'start', to: [admin.userId] });
      const place = { stream_id: realm.channels.general, topic: '' };
      await done(realm, type, admin, { op: 'stop', type: 'channel', ...place });
      await done(realm, typeEdit, member, { op: 'start' }, { path: { message_id } });
      const heard = await settle();
      expect(heard.member?.map(({ type: what, op, topic }) => [what, op, topic])).toEqual([
        ['typing', 'start', undefined],
        ['typing', 'stop', ''],
        ['typing_edit_message', 'start', undefined],
      ]);
      expect(heard.admin).toHaveLength(2);
      expect(heard.guest).toBeUndefined();
    },
  },
  {
    title: 'a narrow, a topic, a channel and everything are marked as read (companion facts 1.11, 1.12)',
    calls: [markNarrow, markTopic, markChannel, markAll],
    run: async (realm) => {
      const { owner, member } = realm.people;
      const { general, random } = realm.channels;
      const { settle } = await follow(realm);
      for (const to of [general, random]) {
        for (const topic of ['Tea', 'Cake']) await sent(realm, owner, { to, topic });
      }
      await sent(realm, owner, { people: [member] });
      await settle();
      const narrow = { anchor: 'newest', num_before: 100, num_after: 0, narrow: [['channel', general]] };
      await done(realm, markNarrow, member, { ...narrow, op: 'add', flag: 'read' });
      await done(realm, markNarrow, member, { ...narrow, op: 'add', flag: 'starred' });
      await settle();
      await done(realm, markNarrow, member, { ...narrow, op: 'remove', flag: 'read' });
      await settle();
      await done(realm, markTopic, member, { stream_id: general, topic_name: 'tea' });
      await settle();
      await done(realm, markChannel, member, { stream_id: random });
      await settle();
      await done(realm, markAll, member);
      const heard = await settle();
      expect(heard.member?.map(({ all }) => all)).toEqual([true]);
    },
  },
];
