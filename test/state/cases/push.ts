import { expect } from 'vitest';
import { handler as addApnsToken } from '../../../functions/push/addApnsToken.ts';
import { handler as addFcmToken } from '../../../functions/push/addFcmToken.ts';
import { handler as registerPush } from '../../../functions/push/register.ts';
import { handler as registerDevice } from '../../../functions/push/registerDevice.ts';
import { handler as removeApnsToken } from '../../../functions/push/removeApnsToken.ts';
import { handler as removeDevice } from '../../../functions/push/removeDevice.ts';
import { handler as removeFcmToken } from '../../../functions/push/removeFcmToken.ts';
import { handler as sendLegacyTest } from '../../../functions/push/sendLegacyTest.ts';
import { handler as sendTest } from '../../../functions/push/sendTest.ts';
import { activePhone, pushRealm, tested } from '../../support/phone.ts';
import { refused, startRelay } from '../../support/push-relay.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

export const pushCases: readonly Case[] = [
  {
    title: 'tokens of older clients come and go, and nobody hears of it (companion facts 3.11)',
    calls: [addApnsToken, removeApnsToken, addFcmToken, removeFcmToken],
    run: async (realm) => {
      const { member } = realm.people;
      const { settle } = await follow(realm);
      const token = 'YXBwbGU=';
      await done(realm, addApnsToken, member, { token, appid: 'org.example.chat' });
      await done(realm, removeApnsToken, member, { token });
      await done(realm, addFcmToken, member, { token });
      await done(realm, removeFcmToken, member, { token });
      expect(await settle()).toEqual({});
    },
  },
  {
    title: 'devices come, get their tokens and go, and their owner alone hears of it (wire facts 12.1, 14.6)',
    calls: [registerDevice, registerPush, sendTest, sendLegacyTest, removeDevice],
    run: async (given) => {
      const relay = await startRelay();
      try {
        const realm = await pushRealm(relay, given);
        const { member } = realm.people;
        const { settle } = await follow(realm);
        await done(realm, registerDevice, member);
        expect(Object.keys(await settle())).toEqual(['member']);
        const { deviceId } = await activePhone(realm, member);
        expect(Object.keys(await settle())).toEqual(['member']);
        expect((await tested(realm, member)).status).toBe(200);
        await done(realm, sendLegacyTest, member);
        await settle();
        await done(realm, removeDevice, member, { device_id: deviceId });
        expect(Object.keys(await settle())).toEqual(['member']);
      } finally {
        relay.stop();
      }
    },
  },
  {
    title: 'everybody hears when the relay takes no notifications of the organization (wire facts 12.2)',
    calls: [sendTest],
    run: async (given) => {
      const relay = await startRelay();
      try {
        const realm = await pushRealm(relay, given);
        const { member } = realm.people;
        await activePhone(realm, member);
        expect((await tested(realm, member)).status).toBe(200);
        const { settle } = await follow(realm);
        relay.behave(refused('PUSH_NOTIFICATIONS_DISALLOWED'));
        expect((await tested(realm, member)).status).toBe(403);
        expect((await settle()).guest?.map(({ type }) => type)).toEqual(['realm']);
      } finally {
        relay.stop();
      }
    },
  },
];
