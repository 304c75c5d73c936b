import { MAX_EVENTS } from '../../shared/domain/invite/create.ts';
import { accessInvitation, doRevoke, loadInvitation } from '../../shared/domain/invite/open.ts';
import { revokeInviteLink } from '../../shared/endpoints/invites.ts';
import { commitPlan } from '../../shared/log/bulk.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(revokeInviteLink, {
  load: ({ input, outside, realm }) => loadInvitation(outside, realm, input.invite_id),
  reserve: MAX_EVENTS,
  run: ({ caller, commit }, invitation) => {
    const revoked = accessInvitation(caller, invitation, true);
    return commitPlan(commit, () => doRevoke(caller, revoked));
  },
});
