import { checkInvite, loadInviteSnapshot } from '../../shared/domain/invite/check.ts';
import { doMakeMultiuse, MAX_EVENTS, parseInvite } from '../../shared/domain/invite/create.ts';
import { createInviteLink } from '../../shared/endpoints/invites.ts';
import { commitPlan } from '../../shared/log/bulk.ts';
import { joinAddress, newToken } from '../../shared/model/user/link.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(createInviteLink, {
  parse: parseInvite,
  load: ({ input, outside, realm, userId }) => loadInviteSnapshot(outside, realm, userId, input.grant),
  reserve: MAX_EVENTS,
  run: async ({ input, caller, outside, baseUrl, commit }, snapshot) => {
    const request = { ...input, grant: checkInvite(caller, 'link', input.grant, snapshot) };
    const token = newToken(outside);
    await commitPlan(commit, (number) => doMakeMultiuse(caller, request, token, number, outside.now()));
    return { invite_link: joinAddress(baseUrl, token) };
  },
});
