import { checkChannelEdit } from '../../shared/domain/channel-edit/check.ts';
import { checkPlan } from '../../shared/domain/channel-edit/do.ts';
import {
  type ChannelEdit,
  type EditGround,
  editLookupKeys,
  loadEditGround,
} from '../../shared/domain/channel-edit/edit.ts';
import { updateChannel } from '../../shared/endpoints/channel-update.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import type { Request } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Update = InputOf<typeof updateChannel>;

/** What the request changes, without the channel that it is about. */
function editOf({ stream_id, ...edit }: Update): ChannelEdit {
  return edit;
}

async function run(
  { input, caller, outside, commit }: Request<Update>,
  ground: EditGround,
): Promise<ReplyOf<typeof updateChannel>> {
  const decided = checkChannelEdit(caller, editOf(input), ground);
  const { count, change } = checkPlan(caller, decided, ground, outside.now());
  return count === 0 ? {} : commit(count, change);
}

/** An event and a notice for each thing that is changed, and three events for those who gain or lose sight of it. */
const ahead = (input: Update): number => 2 * Object.keys(editOf(input)).length + 3;

export const handler = serve(updateChannel, {
  keys: (input) => editLookupKeys(editOf(input)),
  load: ({ input, resolved, outside, userId }) =>
    loadEditGround(outside, resolved, userId, input.stream_id, editOf(input)),
  reserve: ahead,
  run,
});
