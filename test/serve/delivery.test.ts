import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { delivered } from '../../shared/serve/reply.ts';

const reply = (body: string) => ({
  statusCode: 200,
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-store' },
  body,
});

/** A client that takes any type, and says this of encodings. */
const taking = (encodings: string | undefined) => ({ types: '*/*', encodings });

const long = JSON.stringify({ result: 'success', words: 'naïve ☃ '.repeat(5_000) });

describe('a large reply', () => {
  it.each([
    'gzip',
    'gzip, deflate',
    'deflate, br, gzip;q=0.5',
    'GZIP',
    'x-gzip',
    '*',
    'br;q=1.0, gzip;q=0.8, *;q=0.1',
    'identity;q=0.5, *;q=0.7',
    ' gzip ; q=0.001',
  ])('goes compressed to a client that accepts: %s', async (accepted) => {
    const sent = await delivered(reply(long), taking(accepted));
    expect(sent).toMatchObject({
      statusCode: 200,
      isBase64Encoded: true,
      headers: { ...reply('').headers, 'Content-Encoding': 'gzip', Vary: 'Accept, Accept-Encoding' },
    });
    expect(gunzipSync(Buffer.from(sent.body, 'base64')).toString()).toBe(long);
    expect(sent.body.length).toBeLessThan(long.length / 10);
  });

  it.each([
    undefined,
    '',
    'identity',
    'br',
    'deflate',
    'gzip;q=0',
    'gzip;q=0, *',
    'gzip;q=nonsense',
    'identity, gzip;q=0.9',
    'not-gzip',
  ])('goes uncompressed to a client that accepts: %s', async (accepted) => {
    const sent = await delivered(reply(long), taking(accepted));
    expect(sent).toEqual({
      ...reply(long),
      headers: { ...reply('').headers, Vary: 'Accept, Accept-Encoding' },
    });
  });

  it.each(['*/*', 'application/json', 'text/html,application/xhtml+xml;q=0.9', ' image/png ; q=1', 'text/*'])(
    'goes compressed to a client that accepts %s, since the gateway then decodes it',
    async (types) => {
      expect((await delivered(reply(long), { types, encodings: 'gzip' })).isBase64Encoded).toBe(true);
    },
  );

  it.each([undefined, '', ' ', 'json', ', */*', ';q=1', 'text/ , */*'])(
    'goes as text to a client without a valid first type (%s), since it is undocumented whether the gateway then decodes base64',
    async (types) => {
      const sent = await delivered(reply(long), { types, encodings: 'gzip' });
      expect([sent.body, sent.isBase64Encoded]).toEqual([long, undefined]);
    },
  );
});

it('short replies and files are not compressed', async () => {
  const short = reply('{"result":"success"}');
  expect(await delivered(short, taking('gzip'))).toBe(short);
  const file = { ...reply('A'.repeat(100_000)), isBase64Encoded: true };
  expect(await delivered(file, taking('gzip'))).toBe(file);
});

describe('a reply that is larger than the limit of Lambda', () => {
  const refused = (says: RegExp) => ({
    status: 400,
    code: 'BAD_REQUEST',
    message: expect.stringMatching(says),
  });

  it('is refused with a message that says what to do', async () => {
    const sent = delivered(reply('x'.repeat(6_300_000)), taking('identity'));
    await expect(sent).rejects.toMatchObject(refused(/gzip/));
  });

  it('is measured in its encoded form, in which quotes and other scripts take more', async () => {
    const fits = await delivered(reply('x'.repeat(6_200_000)), taking('identity'));
    expect(fits.statusCode).toBe(200);
    for (const text of ['"'.repeat(3_200_000), '☃'.repeat(2_200_000)]) {
      await expect(delivered(reply(text), taking('identity'))).rejects.toMatchObject(refused(/too large/));
    }
  });

  it.each([
    ['no type and no encoding', { types: undefined, encodings: undefined }],
    ['no type', { types: undefined, encodings: 'gzip' }],
    ['no encoding', { types: '*/*', encodings: undefined }],
  ])('is compressed for a client that sends %s, which would otherwise get nothing', async (_, accepted) => {
    const sent = await delivered(reply('x'.repeat(6_300_000)), accepted);
    expect(sent).toMatchObject({ statusCode: 200, headers: { 'Content-Encoding': 'gzip' } });
  });

  it('is refused without advice about compression if that did not help', async () => {
    const sent = delivered(reply(randomBytes(5_000_000).toString('base64')), taking('gzip'));
    await expect(sent).rejects.toMatchObject(refused(/^(?!.*gzip).*too large/));
  });
});
