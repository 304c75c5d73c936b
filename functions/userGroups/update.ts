import { checkEdit, doEdit, eventsOfEdit, loadEditSnapshot } from '../../shared/domain/group-edit/edit.ts';
import { updateUserGroup } from '../../shared/endpoints/user-groups.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateUserGroup, {
  parse: ({ user_group_id: groupId, ...edit }) => ({ groupId, edit }),
  load: ({ input: { groupId, edit }, realm, outside }) =>
    loadEditSnapshot(outside.table, realm, groupId, edit),
  reserve: ({ edit }) => Object.keys(edit).length + (edit.deactivated === false ? 1 : 0),
  run: ({ input: { groupId, edit }, caller, realm, commit }, snapshot) => {
    const decided = checkEdit(caller, groupId, edit, snapshot);
    const events = eventsOfEdit(decided).length;
    return events === 0 ? {} : commit(events, () => doEdit(realm, decided));
  },
});
