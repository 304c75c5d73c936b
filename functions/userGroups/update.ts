import {
  checkEdit,
  doEdit,
  type EditGround,
  eventsOfEdit,
  type GroupEdit,
  loadEditGround,
} from '../../shared/domain/group-edit/edit.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { updateUserGroup } from '../../shared/endpoints/user-groups.ts';
import type { Request } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Update = InputOf<typeof updateUserGroup>;

/** What the request changes, without the group that it is about. */
function editOf({ user_group_id, ...edit }: Update): GroupEdit {
  return edit;
}

async function run(
  { input, caller, realm, commit }: Request<Update>,
  ground: EditGround,
): Promise<ReplyOf<typeof updateUserGroup>> {
  const decided = checkEdit(caller, input.user_group_id, editOf(input), ground);
  const events = eventsOfEdit(decided).length;
  return events === 0 ? {} : commit(events, () => doEdit(realm, decided));
}

export const handler = serve(updateUserGroup, {
  load: ({ input, realm, outside }) =>
    loadEditGround(outside.table, realm, input.user_group_id, editOf(input)),
  reserve: (input) => Object.keys(editOf(input)).length + (input.deactivated === false ? 1 : 0),
  run,
});
