import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { publicAddress } from '../../shared/serve/incoming.ts';
import { newRealm } from '../support/realm.ts';
import { ask, form } from './probe.ts';

const GATEWAY = 'abc123.execute-api.eu-central-1.amazonaws.com';

/** The public address according to the event of a request. */
const address = (headers: Readonly<Record<string, string>>, path = '/prod/api/v1/messages') =>
  publicAddress(
    { requestContext: { stage: 'prod', path, domainName: GATEWAY } } as APIGatewayProxyEvent,
    (name) => headers[name],
  );

describe('the public address of the service', () => {
  test('is the one that CloudFront forwards, without the name of the stage', () => {
    const headers = { host: GATEWAY, 'x-forwarded-host': 'Chat.Example.com', 'x-forwarded-proto': 'https' };
    expect(address(headers)).toEqual({ host: 'chat.example.com', baseUrl: 'https://Chat.Example.com' });
  });

  test('includes the stage at the bare gateway', () => {
    expect(address({ host: GATEWAY, 'x-forwarded-proto': 'https' })).toEqual({
      host: GATEWAY,
      baseUrl: `https://${GATEWAY}/prod`,
    });
  });

  test('does not include it at a custom domain of the gateway, or locally', () => {
    const { baseUrl, host } = address({ host: '127.0.0.1:9991' }, '/api/v1/messages');
    expect([baseUrl, host]).toEqual(['http://127.0.0.1:9991', '127.0.0.1']);
  });

  test.each(['', 'a, b', 'chat.example.com/path', 'user@chat.example.com', 'a'.repeat(256)])(
    'is not the invalid forwarded host "%s"',
    (forwarded) => {
      expect(address({ host: GATEWAY, 'x-forwarded-host': forwarded }).host).toBe(GATEWAY);
    },
  );

  test('selects only the organization, and a key is valid only in its own', async () => {
    const [mine, other] = [await newRealm(), await newRealm()];
    const asked = { path: { place: 'here' }, body: form({ name: 'me' }) };
    const at = (host: string) => ask({ ...asked, headers: { 'X-Forwarded-Host': host } }, mine);
    expect((await at(mine.host)).status).toBe(200);
    expect((await at(other.host)).body).toMatchObject({ code: 'UNAUTHORIZED' });
    const reply = await at(mine.host);
    expect(reply.headers['Cache-Control']).toBe('private, no-store');
  });
});
