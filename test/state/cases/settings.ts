import { handler as update } from '../../../functions/settings/update.ts';
import type { Person, TestRealm } from '../../support/realm.ts';
import { done } from '../case.ts';

/** Changes a user's own settings. */
export const settings = (realm: TestRealm, as: Person, given: Readonly<Record<string, unknown>>) =>
  done(realm, update, as, given);
