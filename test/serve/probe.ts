import { expect } from 'vitest';
import * as z from 'zod/mini';
import { endpoint, reads } from '../../shared/endpoints/endpoint.ts';
import { aliased, boolean, integer, json, optional, text, word } from '../../shared/endpoints/parameter.ts';
import { serve } from '../../shared/serve/serve.ts';
import { basic, type Raw, type RawReply, sendRaw } from '../support/raw-request.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const probeEndpoint = endpoint({
  id: 'tests.probe',
  route: 'POST /api/v1/probe/{place}',
  source: 'wire facts 1.2',
  description: 'Tells what it was given.',
  access: 'user',
  parameters: {
    place: optional(text('In the path.')),
    name: text('Text.'),
    kind: optional(word('One of two.', ['a', 'b'])),
    count: optional(integer('A number.')),
    flag: optional(boolean('Yes or no.')),
    ids: optional(json('Numbers.', z.array(z.int()))),
    any: optional(json('Anything.', z.unknown())),
    topic: aliased(optional(text('A topic.')), 'subject'),
  },
  reply: z.object({ input: z.record(z.string(), z.unknown()), client: z.string(), baseUrl: z.string() }),
  errors: [],
  needs: { table: reads },
});

const probe = serve(probeEndpoint, {
  run: ({ input, client, baseUrl }) => ({ input, client, baseUrl }),
});

export const FORM = 'application/x-www-form-urlencoded';

/** Sends a raw request to the probe, as the member. */
export async function ask({ headers, ...raw }: Raw, given?: TestRealm): Promise<RawReply> {
  const realm = given ?? (await newRealm());
  const authorization = basic(realm.people.member);
  const reply = await sendRaw(realm, probe, {
    headers: { authorization, 'content-type': FORM, ...headers },
    ...raw,
  });
  expect(reply.headers['Content-Type']).toBe('application/json');
  return reply;
}

export const form = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams(fields).toString();

/** A refusal: which code, and that it says something. */
export function expectRefused({ status, body }: RawReply, code = 'BAD_REQUEST'): void {
  expect([status, body.result, body.code]).toEqual([400, 'error', code]);
  expect(body.msg).toMatch(/^[A-Z'].{8,}\.$/s);
  expect(body.msg).not.toMatch(/undefined|NaN|\[object/);
}
