import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { createSecretService } from '../../infra/local/secret-service.ts';
import { awsSecrets } from '../../shared/adapters/secrets.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

const values = new Map([['zoom-client-secret', 'first']]);
let server: Server;
let environment: Record<string, string>;

beforeAll(async () => {
  server = createSecretService(values);
  environment = {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: (await listenOnLoopback(server, 0)).origin,
    SECRET_ZOOM_CLIENT_SECRET_ARN:
      'arn:aws:secretsmanager:us-east-1:000000000000:secret:Parlance/zoom-client-secret',
    SECRET_UNSET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:Parlance/unset',
  };
});

afterAll(() => server.close());

describe('the secrets of the operator', () => {
  test('are read once and then cached for a while', async () => {
    const secrets = awsSecrets(environment);
    expect(await secrets.get('zoom-client-secret')).toBe('first');
    values.set('zoom-client-secret', 'second');
    expect(await secrets.get('zoom-client-secret')).toBe('first');
    expect(await awsSecrets(environment).get('zoom-client-secret')).toBe('second');
  });

  test('are absent until they are set, and then available at once', async () => {
    const secrets = awsSecrets(environment);
    expect(await secrets.get('unset')).toBeUndefined();
    values.set('unset', 'set');
    expect(await secrets.get('unset')).toBe('set');
  });

  test('cannot be read without a declaration', async () => {
    await expect(awsSecrets(environment).get('other')).rejects.toThrow('SECRET_OTHER_ARN is not set');
  });
});
