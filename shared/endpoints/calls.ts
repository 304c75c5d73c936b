import * as z from 'zod/mini';
import { endpoint, type Needs, reads, writes } from './endpoint.ts';
import { boolean, optional, text } from './parameter.ts';

const provider = text('The provider of video calls: `zoom` or `webex`.');

/** What talking to a provider takes: our application there, and the key that seals people's tokens. */
const talking = {
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
  method: 'POST',
  path: '/api/v1/calls/{provider}/create',
  source: 'specification 4.12, wire facts 13',
  description: "Creates a video call in the caller's own account at the provider.",
  access: 'user',
  parameters: {
    provider,
    is_video_call: optional(boolean('Whether cameras are on when it begins; yes if absent. Zoom only.')),
  },
  reply: z.object({ url: z.string() }),
  errors: ['BAD_REQUEST', 'INVALID_VIDEO_CALL_PROVIDER_TOKEN'],
  needs: { table: [...writes, 'DeleteItem'], ...talking },
  // A refresh and a creation, of five seconds each, and the wait for somebody else's refresh before them.
  timeout: 25,
});

export const registerCalls = endpoint({
  id: 'calls.register',
  method: 'GET',
  path: '/calls/{provider}/register',
  source: 'wire facts 13.1',
  description: 'Sends the caller to the provider, to give their consent in the browser that asked.',
  access: 'user',
  parameters: { provider },
  serves: 'A redirection (302) to the provider.',
  reply: z.custom<object>(),
  errors: ['BAD_REQUEST'],
  needs: { table: [...reads, 'PutItem'], ...talking, key: ['Encrypt'] },
});

export const completeCalls = endpoint({
  id: 'calls.complete',
  method: 'GET',
  path: '/calls/{provider}/complete',
  source: 'wire facts 13.1',
  description:
    'Takes the consent that the provider sends back. The state proves whose it is, and a cookie that the same browser began.',
  access: 'anyone',
  parameters: {
    provider,
    state: text('What we gave the provider to carry.'),
    code: optional(text('What the provider gives for a consent.')),
    error: optional(text('What the provider says instead where there was none.')),
  },
  serves: 'A page that closes itself.',
  reply: z.custom<object>(),
  errors: ['BAD_REQUEST'],
  needs: { table: ['BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem'], ...talking },
  timeout: 15,
});
