import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { handler as getOpenApi } from '../../functions/server/getOpenApi.ts';
import { handler as getSettings } from '../../functions/server/getSettings.ts';
import { handler as getOwn } from '../../functions/users/getOwn.ts';
import { endpoint } from '../../shared/endpoints/endpoint.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { page, redirection } from '../../shared/serve/reply.ts';
import { type Served, serveAnyone, serveFile } from '../../shared/serve/serve.ts';
import { newRealm } from '../support/realm.ts';

const forAnyone = endpoint({
  id: 'tests.safety',
  route: 'GET /api/v1/safety',
  source: 'wire facts 1.2',
  description: 'Answers as told.',
  access: 'anyone',
  parameters: {},
  reply: z.object({}),
  errors: [],
  needs: { table: [] },
});

/** A function that answers so. */
const answering = (answer: () => object): Served => serveAnyone(forAnyone, async () => answer());

const throws = (error: Error) => (): never => {
  throw error;
};

type Event = Parameters<ReturnType<Served['with']>>[0];

describe('security headers and CORS headers', () => {
  const safe = {
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    'Content-Security-Policy': expect.stringMatching(/^default-src 'none'/),
  };

  it.each([
    ['a success', answering(() => ({}))],
    ['a redirection', answering(() => redirection(new URL('https://b.test/')))],
    ['a page', answering(() => page('<p>x</p>'))],
    ['a refusal', answering(throws(badRequest('x')))],
    ['a fault', answering(throws(new Error('x')))],
    ['a file', serveFile(forAnyone, async () => ({ bytes: Buffer.from('x'), contentType: 'image/png' }), {})],
  ])('are on %s', async (_, handler) => {
    const { outside, host } = await newRealm();
    const reply = await handler.with(outside)({ headers: { host }, body: null } as unknown as Event);
    expect(reply.headers).toMatchObject(safe);
  });

  it('are on a reply that is refused as too large', async () => {
    const { outside, host } = await newRealm();
    const headers = { host, 'Accept-Encoding': 'identity' };
    const handler = answering(() => ({ text: 'x'.repeat(6_300_000) }));
    const reply = await handler.with(outside)({ headers, body: null } as unknown as Event);
    expect(reply).toMatchObject({ statusCode: 400, headers: safe });
    expect(JSON.parse(reply.body)).toMatchObject({ result: 'error', code: 'BAD_REQUEST' });
  });

  it('are on replies of real endpoints, for every caller', async () => {
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
