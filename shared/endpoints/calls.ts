import * as z from 'zod/mini';
import { endpoint, type Needs, reads, readsItems, writes } from './endpoint.ts';
import { boolean, optional, text } from './parameter.ts';

const provider = text('The provider of the video call: `zoom` or `webex`.');

/** What every call to a provider needs: our OAuth application, and the key that encrypts the tokens of users. */
const providerNeeds = {
  secrets: ['webex-client-secret', 'zoom-client-secret'],
  key: ['Encrypt', 'Decrypt'],
  settings: [
    'ZOOM_CLIENT_ID',
    'ZOOM_OAUTH_URL',
    'ZOOM_API_URL',
    'WEBEX_CLIENT_ID',
    'WEBEX_OAUTH_URL',
    'WEBEX_API_URL',
  ],
} as const satisfies Partial<Needs>;

export const createCall = endpoint({
  id: 'calls.create',
  route: 'POST /api/v1/calls/{provider}/create',
  source: 'specification 4.12, wire facts 13',
  description: "Creates a video call in the caller's own account at the provider.",
  access: 'user',
  parameters: {
    provider,
    is_video_call: optional(boolean('Whether cameras are on at the start; default true. Zoom only.')),
  },
  reply: z.object({ url: z.string() }),
  errors: ['INVALID_VIDEO_CALL_PROVIDER_TOKEN'],
  needs: { table: [...writes, 'DeleteItem'], ...providerNeeds },
  // A token refresh and the creation take up to 5 s each, after waiting for another request's refresh.
  timeout: 25,
});

export const registerCalls = endpoint({
  id: 'calls.register',
  route: 'GET /calls/{provider}/register',
  source: 'wire facts 13.1',
  description: 'Redirects the caller to the provider, to give their consent in this browser.',
  access: 'user',
  parameters: { provider },
  serves: 'A redirect (302) to the provider.',
  needs: { table: [...readsItems, 'PutItem'], ...providerNeeds, key: ['Encrypt'] },
});

export const completeCalls = endpoint({
  id: 'calls.complete',
  route: 'GET /calls/{provider}/complete',
  source: 'wire facts 13.1',
  description:
    'Receives the consent from the provider. The state identifies the user, and a cookie proves that the same browser started.',
  access: 'anyone',
  parameters: {
    provider,
    state: text('The `state` of the redirect to the provider.'),
    code: optional(text('The authorization code, if the user consented.')),
    error: optional(text('The error of the provider, if the user did not consent.')),
  },
  serves: 'A page that closes itself.',
  needs: { table: [...reads, 'PutItem', 'UpdateItem', 'DeleteItem'], ...providerNeeds },
  timeout: 15,
});

export const createBigBlueButtonCall = endpoint({
  id: 'calls.createBigBlueButton',
  route: 'GET /api/v1/calls/bigbluebutton/create',
  source: 'companion facts 4.7',
  description:
    'Makes a link to a new meeting at the BigBlueButton server. Its first visitor opens the meeting.',
  access: 'human',
  parameters: {
    meeting_name: text('The name of the meeting.'),
    voice_only: optional(boolean('Whether cameras are off for everybody but moderators; default false.')),
  },
  reply: z.object({ url: z.string() }),
  needs: { table: readsItems, secrets: ['big-blue-button-secret'], settings: ['BIG_BLUE_BUTTON_URL'] },
});
