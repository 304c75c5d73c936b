import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { operatorSettings } from '../../shared/endpoints/operator-setting.ts';
import { isSameSecret } from '../../shared/kernel/text.ts';
import { listenOnLoopback } from './loopback.ts';

/** A relay for push notifications that reaches no telephone: it shows what one would have been handed. */
export interface PushRelay {
  /** Where it is this time, as variables of functions. */
  readonly variables: Readonly<Record<string, string>>;
  /** The secret with which the service says who it is, under its name. */
  readonly secrets: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

/** Our user name at it. */
const organization = 'local';

/**
 * What the operator of a real relay would set, as values of CDK context. The address leads nowhere: ours has another port at
 * every start, which would make another template.
 */
export const relayContext: Readonly<Record<string, string>> = {
  [operatorSettings.PUSH_RELAY_URL.context]: 'http://push-relay.localhost',
  [operatorSettings.PUSH_RELAY_ORG_ID.context]: organization,
};

const prefix = '/api/v1/remotes/push/e2ee/';
const notifications = z.object({
  realm_uuid: z.string(),
  push_requests: z.array(z.object({ token_id: z.string(), fcm_priority: z.optional(z.string()) })),
});

interface Reply {
  readonly status: number;
  readonly body: object;
  /** The line that is printed on the console. */
  readonly line: string;
}

/**
 * Starts the relay on the loopback interface.
 *
 * @param report Takes a line for the person at the console: one for each request.
 */
export async function startPushRelay(report: (line: string) => void): Promise<PushRelay> {
  const key = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    void answer(request, key)
      .catch((): Reply => refused(400, 'BAD_REQUEST', 'cannot be read'))
      .then(({ status, body, line }) => {
        report(`Push relay: ${line}`);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
  });
  const { origin } = await listenOnLoopback(server, 0);
  return {
    variables: { PUSH_RELAY_URL: origin },
    secrets: new Map([['push-relay-org-key', key]]),
    stop: () => close(server),
  };
}

async function answer(request: IncomingMessage, key: string): Promise<Reply> {
  const body = await text(request);
  if (!isOurs(request.headers.authorization, key)) {
    return refused(401, 'INVALID_ZULIP_SERVER', 'is not from this service');
  }
  if (request.url === `${prefix}register`) {
    const token = new URLSearchParams(body).get('token_id');
    return { status: 200, body: { result: 'success', msg: '' }, line: `took the token ${token} of a device` };
  }
  if (request.url === `${prefix}notify`) return notified(notifications.parse(JSON.parse(body)));
  return refused(404, 'BAD_REQUEST', `has the unknown path ${request.url}`);
}

/** Takes notifications for whomever they are. What is in them only a telephone could read. */
function notified({ push_requests: requests }: z.infer<typeof notifications>): Reply {
  const android = requests.filter((each) => each.fcm_priority !== undefined).length;
  const apple = requests.length - android;
  return {
    status: 200,
    body: {
      result: 'success',
      msg: '',
      android_successfully_sent_count: android,
      apple_successfully_sent_count: apple,
      delete_token_ids: [],
      realm_push_status: { can_push: true, expected_end_timestamp: null },
    },
    line: `took encrypted notifications for ${android} Android and ${apple} Apple devices`,
  };
}

const refused = (status: number, code: string, why: string): Reply => ({
  status,
  body: { result: 'error', msg: 'Refused.', code },
  line: `refused a request that ${why}`,
});

function isOurs(authorization: string | undefined, key: string): boolean {
  const expected = Buffer.from(`Basic ${Buffer.from(`${organization}:${key}`).toString('base64')}`);
  return isSameSecret(Buffer.from(authorization ?? ''), expected);
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
