import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { clientOptions } from '../../shared/aws/client-options.ts';

const timesOf = (environment: Readonly<Record<string, string>>) => {
  const { connectionTimeout, requestTimeout, socketTimeout } = clientOptions(
    environment,
    'DYNAMODB',
  ).requestHandler;
  return [connectionTimeout, requestTimeout, socketTimeout];
};

describe('the time that a service of AWS gets', () => {
  test('is two seconds a try, one of them for the connection', () => {
    expect(timesOf({})).toEqual([1_000, 2_000, 2_000]);
  });

  test('is longer where the local cloud says so', () => {
    expect(timesOf({ SERVICE_TIMEOUT_MS: '8000' })).toEqual([8_000, 8_000, 8_000]);
  });

  test.each(['', '0', '-1', '1.5', '2s', '1000000'])('cannot be "%s"', (text) => {
    expect(() => timesOf({ SERVICE_TIMEOUT_MS: text })).toThrow(
      `SERVICE_TIMEOUT_MS must be a whole number from 1 to 999999, and not "${text}".`,
    );
  });
});

describe('the bytes of a reply', () => {
  const read = clientOptions({}, 'DYNAMODB').streamCollector;

  test('are those of all its parts, in order', async () => {
    const bytes = await read(Readable.from([Buffer.from('{"Items"'), Buffer.from(':[]}')]));
    expect(Buffer.from(bytes).toString()).toBe('{"Items":[]}');
  });

  test('are none for an empty one', async () => {
    expect(await read(Readable.from([]))).toHaveLength(0);
  });

  test('are an error where it breaks off', async () => {
    const broken = new Readable({ read: () => {} });
    const reading = read(broken);
    broken.push(Buffer.from('{"Items"'));
    broken.destroy(new Error('socket hang up'));
    await expect(reading).rejects.toThrow('socket hang up');
  });

  test('are an error where it ends without its last part', async () => {
    const broken = new Readable({ read: () => {} });
    const reading = read(broken);
    broken.destroy();
    await expect(reading).rejects.toThrow('broken off');
  });
});
