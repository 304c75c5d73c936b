import { handler as ping } from '../../functions/presence/update.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

/** Milliseconds. */
export const minute = 60_000;

/** A user pings. */
export const here = (realm: TestRealm, as: Person, parameters: object = {}): Promise<Reply> =>
  realm.call(ping, as, { status: 'active', ...parameters });

/** All presences that this user gets, by user id. */
export const all = async (realm: TestRealm, as: Person, parameters: object = {}): Promise<Reply['body']> =>
  (await here(realm, as, { status: 'idle', last_update_id: -1, ...parameters })).body;

/** Seconds. */
export const now = ({ outside }: TestRealm): number => Math.floor(outside.now() / 1000);
