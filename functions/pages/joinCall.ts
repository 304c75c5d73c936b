import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { accessMeeting, joinMeeting, loadBigBlueButton } from '../../shared/domain/calls/big-blue-button.ts';
import { joinCall } from '../../shared/endpoints/pages.ts';
import { servePage } from '../../shared/serve/page.ts';
import { redirection } from '../../shared/serve/reply.ts';

export const handler = servePage(
  joinCall,
  {
    run: async ({ input, realm, caller, outside, clients }) => {
      const configured = await loadBigBlueButton(outside.environment, clients.secrets);
      const { server, meeting } = accessMeeting(configured, realm, input.bigbluebutton);
      return redirection(await joinMeeting(server, meeting, caller.user));
    },
  },
  { secrets: awsSecrets },
);
