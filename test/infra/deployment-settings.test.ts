import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deploymentOf, deploymentSettings } from '../../infra/deployment-settings.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { operatorSettings } from '../../shared/endpoints/operator-setting.ts';
import { workers } from '../../shared/endpoints/workers.ts';

const given = (context: Readonly<Record<string, unknown>>) =>
  deploymentOf({ tryGetContext: (name: string) => context[name] });

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a-1b';

describe('settings of a deployment', () => {
  test('have defaults with which `cdk deploy` works', () => {
    expect(given({})).toEqual({
      stackName: 'Parlance',
      domain: undefined,
      corsOrigins: [],
      logRetentionDays: 30,
      requestsPerSecond: 500,
      pollConcurrency: undefined,
      wait: 'web',
      pollMemory: 128,
      secretNames: new Map([
        ['push-relay-org-key', 'Parlance/push-relay-org-key'],
        ['zoom-client-secret', 'Parlance/zoom-client-secret'],
        ['webex-client-secret', 'Parlance/webex-client-secret'],
        ['big-blue-button-secret', 'Parlance/big-blue-button-secret'],
        ['oidc-client-secret', 'Parlance/oidc-client-secret'],
      ]),
      addressLimit: undefined,
    });
  });

  test('may name several hosts, and the first is the address of the service', () => {
    expect(given({ domain: 'chat.example.com,*.chat.example.com', certificateArn }).domain).toEqual({
      hosts: ['chat.example.com', '*.chat.example.com'],
      certificateArn,
    });
  });

  test('may name the stack, and with it its secrets unless these have other names', () => {
    const { stackName, secretNames } = given({ stackName: 'Second-1', zoomSecretName: 'acme/zoom' });
    expect(stackName).toBe('Second-1');
    expect([...secretNames.values()]).toEqual([
      'Second-1/push-relay-org-key',
      'acme/zoom',
      'Second-1/webex-client-secret',
      'Second-1/big-blue-button-secret',
      'Second-1/oidc-client-secret',
    ]);
  });

  test.each([
    ['stackName', '1st'],
    ['stackName', 'two words'],
    ['stackName', 'ends-'],
    ['stackName', 'a-name-of-more-than-28-characters'],
    ['domain', 'https://chat.example.com'],
    ['domain', 'chat.example.com, other.example.com'],
    ['certificateArn', 'arn:aws:acm:eu-central-1:123456789012:certificate/0a-1b'],
    ['corsOrigins', '*'],
    ['corsOrigins', 'https://example.com/page'],
    ['logRetentionDays', '31'],
    ['requestsPerSecond', '0'],
    ['pollConcurrency', '0'],
    ['wait', 'sqs'],
    ['wait', 'Web'],
    ['pollMemory', '127'],
    ['pollMemory', '10241'],
    ['pollMemory', '256.5'],
    ['pollMemory', '256 MB'],
    ['pushRelaySecretName', 'two words'],
    ['zoomSecretName', 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:acme/zoom-a1B2c3'],
    ['webexSecretName', 'acme/wébex'],
    ['webexSecretName', 'x'.repeat(513)],
    ['addressLimit', '9'],
    ['addressLimit', 'many'],
  ])('are refused if %s is "%s"', (name, value) => {
    expect(() => given({ [name]: value })).toThrow(`The context value ${name} cannot be "${value}".`);
  });

  test.each([{ domain: 'chat.example.com' }, { certificateArn }])(
    'are refused with half of a domain: %o',
    (half) => {
      expect(() => given(half)).toThrow('need each other');
    },
  );

  test('can reserve functions for polls, and limit the rate by address alone', () => {
    const { pollConcurrency, addressLimit } = given({ pollConcurrency: '400', addressLimit: '3000' });
    expect(pollConcurrency).toBe(400);
    expect(given({ pollConcurrency: 'none' }).pollConcurrency).toBeUndefined();
    expect(addressLimit).toBe(3000);
  });

  test.each(['128', '199', '1000', '9999', '10000', '10199', '10240'])(
    'can give a poll %s MB',
    (pollMemory) => {
      expect(given({ pollMemory }).pollMemory).toBe(Number(pollMemory));
    },
  );

  test('can name each secret separately', () => {
    const name = `acme/chat_1/zoom+=.@${'x'.repeat(492)}`;
    expect(name).toHaveLength(512);
    expect([...given({ zoomSecretName: name }).secretNames.values()]).toEqual([
      'Parlance/push-relay-org-key',
      name,
      'Parlance/webex-client-secret',
      'Parlance/big-blue-button-secret',
      'Parlance/oidc-client-secret',
    ]);
    expect(given({ pushRelaySecretName: 'r' }).secretNames.get('push-relay-org-key')).toBe('r');
    expect(given({ webexSecretName: 'acme/webex' }).secretNames.get('webex-client-secret')).toBe(
      'acme/webex',
    );
  });

  test.each(['pushRelaySecretName', 'zoomSecretName', 'webexSecretName'] as const)(
    'may name the default of %s, and no other name that ends like an ARN',
    (setting) => {
      expect(given({ [setting]: deploymentSettings[setting].otherwise })).toEqual(given({}));
      expect(() => given({ [setting]: 'acme/our-secret' })).toThrow(
        `The context value ${setting} cannot be "acme/our-secret", as Secrets Manager itself ends ARNs of secrets with a hyphen and six characters.`,
      );
    },
  );

  test.each([
    { pushRelaySecretName: 'acme/one', zoomSecretName: 'acme/one' },
    { zoomSecretName: 'Parlance/push-relay-org-key' },
  ])('are refused if two secrets have the same name: %o', (names) => {
    expect(() => given(names)).toThrow(
      `The context values pushRelaySecretName and zoomSecretName cannot both be "${names.zoomSecretName}".`,
    );
  });

  test('are refused with a wildcard for an address', () => {
    expect(() => given({ domain: '*.example.com', certificateArn })).toThrow('cannot be a wildcard');
  });
});

test('infra/DEPLOY.md lists every context value with its default, including the names of all secrets', () => {
  const page = readFileSync(join(import.meta.dirname, '../../infra/DEPLOY.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const rowOf = (name: string) =>
    rows.find((row) => row.includes(`\`${name}\``)) ?? expect.fail(`no row for ${name}`);
  for (const [name, setting] of Object.entries(deploymentSettings)) {
    expect(rowOf(name)).toContain('otherwise' in setting ? `| ${setting.otherwise} ` : '|  ');
  }
  for (const { context } of Object.values(operatorSettings)) rowOf(context);
  const secrets = new Set([...endpoints, ...workers].flatMap(({ needs }) => needs.secrets ?? []));
  expect([...given({}).secretNames.keys()].sort()).toEqual([...secrets].sort());
});
