import { expect } from 'vitest';
import { handler as removeStorage } from '../../../functions/bots/removeStorage.ts';
import { handler as updateStorage } from '../../../functions/bots/updateStorage.ts';
import { handler as createDrafts } from '../../../functions/drafts/create.ts';
import { handler as deleteDraft } from '../../../functions/drafts/delete.ts';
import { handler as replaceDraft } from '../../../functions/drafts/replace.ts';
import { handler as addView } from '../../../functions/navigationViews/add.ts';
import { handler as removeView } from '../../../functions/navigationViews/remove.ts';
import { handler as updateView } from '../../../functions/navigationViews/update.ts';
import { handler as addReminder } from '../../../functions/reminders/create.ts';
import { handler as removeReminder } from '../../../functions/reminders/delete.ts';
import { handler as createSnippet } from '../../../functions/savedSnippets/create.ts';
import { handler as deleteSnippet } from '../../../functions/savedSnippets/delete.ts';
import { handler as updateSnippet } from '../../../functions/savedSnippets/update.ts';
import { handler as schedule } from '../../../functions/scheduledMessages/create.ts';
import { handler as unschedule } from '../../../functions/scheduledMessages/delete.ts';
import { handler as reschedule } from '../../../functions/scheduledMessages/update.ts';
import { handler as addWords } from '../../../functions/users/addAlertWords.ts';
import { handler as mute } from '../../../functions/users/mute.ts';
import { handler as removeWords } from '../../../functions/users/removeAlertWords.ts';
import { handler as unmute } from '../../../functions/users/unmute.ts';
import { sent } from '../../support/messages.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

/** Personal data, whose events go only to its owner. */
export const personalCases: readonly Case[] = [
  {
    title: 'saved snippets come, change and go, and nobody else hears of it (companion facts 2.2)',
    calls: [createSnippet, updateSnippet, deleteSnippet],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      const given = { title: 'Hello', content: 'Dear all' };
      const { saved_snippet_id } = await done(realm, createSnippet, member, given);
      await done(realm, createSnippet, member, { ...given, title: 'Goodbye' });
      expect(Object.keys(await settle())).toEqual(['member']);
      const path = { saved_snippet_id };
      await done(realm, updateSnippet, member, { title: 'Hi' }, { path });
      await settle();
      await done(realm, deleteSnippet, member, {}, { path });
      await settle();
    },
  },
  {
    title: 'navigation views come, change and go, and nobody else hears of it (companion facts 2.5)',
    calls: [addView, updateView, removeView],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      const fragment = 'narrow/is/alerted';
      await done(realm, addView, member, { fragment: 'inbox', is_pinned: true });
      await done(realm, addView, member, { fragment, is_pinned: true, name: 'Alerts' });
      expect(Object.keys(await settle())).toEqual(['member']);
      const path = { fragment };
      await done(realm, updateView, member, { is_pinned: false, name: 'Words' }, { path });
      await settle();
      await done(realm, removeView, member, {}, { path });
      await settle();
    },
  },
  {
    title: 'drafts are saved, replaced and deleted, and nobody else hears of it (companion facts 2.1)',
    calls: [createDrafts, replaceDraft, deleteDraft],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const { settle } = await follow(realm);
      const to = [realm.channels.general];
      const inChannel = { type: 'stream', to, topic: 'lunch', content: 'Soup?' };
      const direct = { type: 'private', to: [admin.userId, member.userId], topic: '', content: 'Hello' };
      const { ids } = await done(realm, createDrafts, member, { drafts: [inChannel, direct] });
      expect(Object.keys(await settle())).toEqual(['member']);
      await done(realm, replaceDraft, member, { draft: direct }, { path: { draft_id: ids[0] } });
      await settle();
      await done(realm, deleteDraft, member, {}, { path: { draft_id: ids[1] } });
      await settle();
    },
  },
  {
    title:
      'messages of a muted user become read and arrive read; nobody else hears of it (companion facts 3.2)',
    calls: [mute, unmute],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const to = realm.channels.general;
      await sent(realm, admin, { to });
      const { settle } = await follow(realm);
      const { settle: settleLate } = await follow(realm);
      const path = { muted_user_id: admin.userId };
      await done(realm, mute, member, {}, { path });
      expect(Object.keys(await settle())).toEqual(['member']);
      await sent(realm, admin, { to });
      await settle();
      await done(realm, unmute, member, {}, { path });
      await settle();
      await sent(realm, admin, { to });
      await settle();
      // Clients that hear of everything only now.
      await settleLate();
    },
  },
  {
    title: 'alert words come and go, and nobody else hears of it (companion facts 3.1)',
    calls: [addWords, removeWords],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, addWords, member, { alert_words: ['Tea', 'lunch'] });
      expect(Object.keys(await settle())).toEqual(['member']);
      await done(realm, removeWords, member, { alert_words: ['tea'] });
      await settle();
    },
  },
  {
    title: 'what a bot stores has no event (companion facts 3.9)',
    calls: [updateStorage, removeStorage],
    run: async (realm) => {
      const { bot } = realm.people;
      const { settle } = await follow(realm);
      await done(realm, updateStorage, bot, { storage: { state: 'x' } });
      await done(realm, removeStorage, bot);
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'messages are scheduled, changed and deleted, and nobody else hears of it (companion facts 2.3)',
    calls: [schedule, reschedule, unschedule],
    run: async (realm) => {
      const { member, admin } = realm.people;
      const { settle } = await follow(realm);
      const at = Math.floor(realm.outside.now() / 1000) + 86_400;
      const given = { type: 'direct', to: [admin.userId], content: 'Hi', scheduled_delivery_timestamp: at };
      const { scheduled_message_id } = await done(realm, schedule, member, given);
      await done(realm, schedule, member, { ...given, scheduled_delivery_timestamp: at - 60 });
      expect(Object.keys(await settle())).toEqual(['member']);
      const path = { scheduled_message_id };
      await done(realm, reschedule, member, { scheduled_delivery_timestamp: at - 120 }, { path });
      await settle();
      await done(realm, unschedule, member, {}, { path });
      await settle();
    },
  },
  {
    title: 'reminders come and go, and nobody else hears of them (companion facts 2.4)',
    calls: [addReminder, removeReminder],
    run: async (realm) => {
      const { member, owner } = realm.people;
      const message_id = await sent(realm, owner, { people: [member] });
      const { settle } = await follow(realm);
      const at = Math.floor(realm.outside.now() / 1000) + 86_400;
      const given = { message_id, scheduled_delivery_timestamp: at };
      const { reminder_id } = await done(realm, addReminder, member, given);
      await done(realm, addReminder, member, { ...given, scheduled_delivery_timestamp: at - 60 });
      expect(Object.keys(await settle())).toEqual(['member']);
      await done(realm, removeReminder, member, {}, { path: { reminder_id } });
      await settle();
    },
  },
];
