import { describe, expect, test } from 'vitest';
import { deploymentOf } from '../../infra/deployment-settings.ts';

const given = (context: Readonly<Record<string, unknown>>) =>
  deploymentOf({ tryGetContext: (name: string) => context[name] });

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a-1b';

describe('what the operator decides about a deployment', () => {
  test('has defaults with which `cdk deploy` works as it is', () => {
    expect(given({})).toEqual({
      domain: undefined,
      corsOrigins: [],
      logRetentionDays: 30,
      requestsPerSecond: 500,
      pollConcurrency: 500,
      rateLimits: undefined,
    });
  });

  test('is several hosts of the service, of which the first is its address', () => {
    expect(given({ domain: 'chat.example.com,*.chat.example.com', certificateArn }).domain).toEqual({
      hosts: ['chat.example.com', '*.chat.example.com'],
      certificateArn,
    });
  });

  test.each([
    ['domain', 'https://chat.example.com'],
    ['domain', 'chat.example.com, other.example.com'],
    ['certificateArn', 'arn:aws:acm:eu-central-1:123456789012:certificate/0a-1b'],
    ['corsOrigins', '*'],
    ['corsOrigins', 'https://example.com/page'],
    ['logRetentionDays', '31'],
    ['requestsPerSecond', '0'],
    ['pollConcurrency', '0'],
    ['addressLimit', '9'],
    ['credentialLimit', 'many'],
  ])('is not deployed when %s is "%s"', (name, value) => {
    expect(() => given({ [name]: value })).toThrow(`The context value ${name} cannot be "${value}".`);
  });

  test.each([{ domain: 'chat.example.com' }, { certificateArn }])('is not half a domain: %o', (half) => {
    expect(() => given(half)).toThrow('need each other');
  });

  test('can leave the number of polls open, and limit the rates of one kind only', () => {
    const { pollConcurrency, rateLimits } = given({ pollConcurrency: 'none', addressLimit: '3000' });
    expect(pollConcurrency).toBeUndefined();
    expect(rateLimits).toEqual({ perAddress: 3000, perCredential: undefined });
  });

  test('is no wildcard for an address', () => {
    expect(() => given({ domain: '*.example.com', certificateArn })).toThrow('cannot be a wildcard');
  });
});
