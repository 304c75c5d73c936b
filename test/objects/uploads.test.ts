import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { s3Uploads } from '../../shared/adapters/uploads.ts';
import { variable } from '../../shared/environment.ts';
import { bucketOf } from '../support/store.ts';

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

const bucket = 'sample';
const environment = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_ENDPOINT_URL_S3: inject('sqsS3'),
  [variable('BUCKET', bucket)]: bucketOf(bucket),
};
const [uploads, objects] = [s3Uploads(environment), s3Objects(environment)];

const SMALLEST_PART = 5 * 1024 * 1024;

async function begun() {
  const key = `realm/${randomUUID()}`;
  return { bucket, key, id: await uploads.begin(bucket, key, 'application/gzip') };
}

describe('an upload in parts', () => {
  test('becomes one object, in the order of the part numbers, even with gaps', async () => {
    const upload = await begun();
    const [first, last] = [Buffer.alloc(SMALLEST_PART, 'a'), Buffer.from('the end')];
    const marks = [
      { number: 9, mark: await uploads.putPart(upload, 9, last) },
      { number: 2, mark: await uploads.putPart(upload, 2, Buffer.from('x')) },
    ];
    // A part that comes again takes the place of the first.
    marks[1] = { number: 2, mark: await uploads.putPart(upload, 2, first) };
    await uploads.putPart(upload, 5, Buffer.from('not wanted'));
    expect(await objects.get(bucket, upload.key)).toBeUndefined();
    await uploads.complete(upload, marks.toReversed());
    const found = await objects.get(bucket, upload.key);
    expect(found?.contentType).toBe('application/gzip');
    expect(Buffer.concat([first, last]).equals(Buffer.from(found?.bytes ?? ''))).toBe(true);
    // Once more, as after an answer that was lost.
    await uploads.complete(upload, marks.toReversed());
  });

  test('that was aborted leaves nothing, and cannot be completed', async () => {
    const upload = await begun();
    const mark = await uploads.putPart(upload, 1, Buffer.from('a part'));
    await uploads.abort(upload);
    await uploads.abort(upload);
    await expect(uploads.complete(upload, [{ number: 1, mark }])).rejects.toThrow();
    expect(await objects.get(bucket, upload.key)).toBeUndefined();
  });
});
