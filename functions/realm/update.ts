import { checkRealmEdit } from '../../shared/domain/realm-edit/check.ts';
import {
  doEditRealm,
  eventsOfRealmEdit,
  loadRealmEditSnapshot,
} from '../../shared/domain/realm-edit/edit.ts';
import { updateRealm } from '../../shared/endpoints/realm.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateRealm, {
  load: ({ input, realm, userId, outside }) => loadRealmEditSnapshot(outside.table, realm, userId, input),
  // One event for each setting, and one more for what a waiting period or a policy means besides.
  reserve: (input) => Object.keys(input).length + 2,
  run: ({ input, caller, realm, outside, commit }, snapshot) => {
    const decided = checkRealmEdit(caller, input, snapshot, outside.environment);
    const events = eventsOfRealmEdit(decided, outside.now());
    return events.length === 0 ? {} : commit(events.length, () => doEditRealm(realm, decided, events));
  },
});
