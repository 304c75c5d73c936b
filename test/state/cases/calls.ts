import { expect } from 'vitest';
import { handler as createCall } from '../../../functions/calls/create.ts';
import { call, consented, realmWith } from '../../support/call-consent.ts';
import { startProvider } from '../../support/call-provider.ts';
import type { Case } from '../case.ts';
import { follow } from '../follow.ts';

export const callCases: readonly Case[] = [
  {
    title: 'a consent to a provider of calls is there for a call, and gone when the provider says so (4.12)',
    calls: [createCall],
    run: async (given) => {
      const provider = await startProvider();
      try {
        const realm = await realmWith(provider, given);
        const { member } = realm.people;
        const { settle } = await follow(realm);
        for (const name of ['zoom', 'webex']) {
          await consented(realm, member, name);
          expect((await call(realm, member, name)).status).toBe(200);
        }
        expect(Object.keys(await settle())).toEqual(['member']);
        provider.revoke();
        expect((await call(realm, member, 'zoom')).status).toBe(400);
        expect(Object.keys(await settle())).toEqual(['member']);
      } finally {
        provider.stop();
      }
    },
  },
];
