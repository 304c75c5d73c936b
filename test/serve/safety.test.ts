import { describe, expect, it } from 'vitest';
import { handler as getOpenApi } from '../../functions/server/getOpenApi.ts';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { badRequest } from '../../shared/domain/problems.ts';
import { failure, fileReply, page, redirection, success } from '../../shared/serve/reply.ts';
import { newRealm } from '../support/realm.ts';

describe('every reply is what it says it is, runs in no page, and may be read by pages of all origins', () => {
  const safe = {
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    'Content-Security-Policy': expect.stringMatching(/^default-src 'none'/),
  };

  it.each([
    ['a success', success({}, [])],
    ['a redirection', success(redirection(new URL('https://b.test/')), [])],
    ['a page', success(page('<p>x</p>'), [])],
    ['a refusal', failure(badRequest('x'))],
    ['a fault', failure(new Error('x'))],
    ['a file', fileReply({ bytes: Buffer.from('x'), contentType: 'image/png' })],
  ])('%s', (_, { headers }) => {
    expect(headers).toMatchObject(safe);
  });

  it('those of functions, whoever asks', async () => {
    const { call, people } = await newRealm();
    for (const reply of [
      await call(getOwn, people.member),
      await call(getOwn, undefined),
      await call(getSettings, undefined),
      await call(getOpenApi, undefined),
    ]) {
      expect(reply.headers).toMatchObject(safe);
    }
  });
});
