import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { type Environment, variable } from '../../shared/environment.ts';
import { bucketOf } from '../support/store.ts';

const bucket = 'sample';
const environment = (endpoint = inject('sqsS3')): Environment => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_SESSION_TOKEN: 'token',
  AWS_ENDPOINT_URL_S3: endpoint,
  [variable('BUCKET', bucket)]: bucketOf(bucket),
});
const bytes = new Uint8Array([0, 1, 2, 250, 251, 255]);

let lying: Server | undefined;
afterEach(() => lying?.close());

/** A store that answers everything in one way. */
async function answering(status: number): Promise<string> {
  lying = createServer((_, response) => response.writeHead(status).end('no'));
  return (await listenOnLoopback(lying, 0)).origin;
}

describe('objects in a bucket', () => {
  test.each(['realm/1.png', "realm/a b+c&d=é'()*.png"])(
    'are kept under %s, byte by byte, until they are removed',
    async (key) => {
      const objects = s3Objects(environment());
      await objects.put(bucket, key, bytes, 'image/png');
      expect(await objects.get(bucket, key)).toEqual({ bytes, contentType: 'image/png' });
      await objects.remove(bucket, key);
      expect(await objects.get(bucket, key)).toBeUndefined();
      await objects.remove(bucket, key);
    },
  );

  test('can be downloaded by anyone who has the link, under the name that it says', async () => {
    const objects = s3Objects(environment());
    await objects.put(bucket, 'realm/linked.bin', bytes, 'application/gzip');
    const link = new URL(await objects.link(bucket, 'realm/linked.bin', 600, 'export.tar.gz'));
    expect(link.searchParams.get('X-Amz-Expires')).toBe('600');
    expect(link.searchParams.get('response-content-disposition')).toBe(
      'attachment; filename="export.tar.gz"',
    );
    const answer = await fetch(link);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes);
  });

  test('have a cache lifetime, if one was set', async () => {
    const objects = s3Objects(environment());
    const told = async (key: string, cacheControl?: string) => {
      await objects.put(bucket, key, bytes, 'image/png', cacheControl);
      const answer = await fetch(await objects.link(bucket, key, 60, 'image.png'));
      await answer.body?.cancel();
      return answer.headers.get('cache-control');
    };
    expect(await told('realm/kept.png', 'public, max-age=60')).toBe('public, max-age=60');
    expect(await told('realm/not-kept.png')).toBeNull();
  });

  test('are never lost silently, and an error of S3 names no key', async () => {
    const objects = s3Objects(environment(await answering(503)));
    const attempts = await Promise.allSettled([
      objects.put(bucket, 'realm/secret', bytes, 'image/png'),
      objects.get(bucket, 'realm/secret'),
      objects.remove(bucket, 'realm/secret'),
    ]);
    for (const attempt of attempts) {
      const said = attempt.status === 'rejected' ? String(attempt.reason) : 'done';
      expect(said).toMatch(/503/);
      expect(said).not.toMatch(/secret/);
    }
  });

  test('are never written into a missing bucket', async () => {
    const objects = s3Objects({ ...environment(), [variable('BUCKET', bucket)]: 'no-such-bucket' });
    await expect(objects.put(bucket, 'key', bytes, 'image/png')).rejects.toThrow('does not exist');
  });

  test('cannot be read without the bucket in the environment', async () => {
    await expect(s3Objects(environment()).get('others', 'key')).rejects.toThrow('BUCKET_OTHERS is not set');
  });
});
