import { MAX_EVENTS } from '../../shared/domain/invite/create.ts';
import { loadInvitation, revokeInvitation } from '../../shared/domain/invite/open.ts';
import { revokeInviteLink } from '../../shared/endpoints/invites.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(revokeInviteLink, {
  load: ({ input, outside, realm }) => loadInvitation(outside, realm, input.invite_id),
  reserve: MAX_EVENTS,
  run: ({ caller, commit }, found) => revokeInvitation(caller, commit, found, true),
});
