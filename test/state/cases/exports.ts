import { expect } from 'vitest';
import { handler as create } from '../../../functions/exports/create.ts';
import { handler as remove } from '../../../functions/exports/delete.ts';
import { worked } from '../../support/export-request.ts';
import { workOf } from '../../support/work-queue.ts';
import { type Case, done } from '../case.ts';
import { follow } from '../follow.ts';

export const exportCases: readonly Case[] = [
  {
    title: 'administrators hear what becomes of exports, and nobody else (4.8, wire facts 10)',
    calls: [create, remove],
    run: async (realm) => {
      const { admin } = realm.people;
      const work = await workOf(realm, 'export');
      const { settle } = await follow(realm);
      const { id } = await done(realm, create, admin);
      const asked = await settle();
      expect(Object.keys(asked).sort()).toEqual(['admin', 'owner']);
      expect(asked.admin?.at(-1)).toMatchObject({ type: 'realm_export', exports: [{ id, pending: true }] });
      await worked(realm, work);
      await done(realm, remove, admin, {}, { path: { export_id: id } });
      const { admin: heard = [], ...others } = await settle();
      expect(heard.at(-1)).toMatchObject({ exports: [{ deleted_timestamp: expect.any(Number) }] });
      expect(Object.keys(others)).toEqual(['owner']);
    },
  },
];
