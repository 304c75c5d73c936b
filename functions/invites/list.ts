import {
  invitationObject,
  loadOpenInvitations,
  visibleInvitations,
} from '../../shared/domain/invite/open.ts';
import { listInvites } from '../../shared/endpoints/invites.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(listInvites, {
  load: ({ outside, realm }) => loadOpenInvitations(outside, realm),
  run: ({ caller, baseUrl }, invitations) => {
    const visible = visibleInvitations(caller, invitations);
    return { invites: visible.map((invitation) => invitationObject(invitation, baseUrl)) };
  },
});
