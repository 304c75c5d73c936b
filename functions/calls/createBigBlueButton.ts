import { awsSecrets } from '../../shared/adapters/secrets.ts';
import {
  checkMeetingName,
  loadBigBlueButton,
  meetingPath,
  newMeetingId,
} from '../../shared/domain/calls/big-blue-button.ts';
import { createBigBlueButtonCall } from '../../shared/endpoints/calls.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  createBigBlueButtonCall,
  {
    parse: ({ meeting_name: name, voice_only: isVoiceOnly = false }) => ({
      name: checkMeetingName(name),
      isVoiceOnly,
    }),
    run: async ({ input, realm, userId, outside, clients }) => {
      const server = await loadBigBlueButton(outside.environment, clients.secrets);
      const meeting = { id: newMeetingId(outside), ...input, moderatorId: userId };
      return { url: meetingPath(outside, server, realm, meeting) };
    },
  },
  { secrets: awsSecrets },
);
