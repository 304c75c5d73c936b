import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { basic, sendRaw } from '../support/raw-request.ts';
import { newRealm } from '../support/realm.ts';

/** The operations of section 4: their subsections, methods and paths. */
const operations = [
  ['4.1', 'POST', '/api/v1/messages'],
  ['4.2', 'PATCH', '/api/v1/streams/{stream_id}'],
  ['4.3', 'POST', '/api/v1/channel_folders/create'],
  ['4.4', 'POST', '/api/v1/realm/profile_fields'],
  ['4.5', 'POST', '/api/v1/user_groups/create'],
  ['4.6', 'PATCH', '/api/v1/realm/domains/{domain}'],
  ['4.7', 'GET', '/api/v1/streams/{stream_id}/email_address'],
  ['4.8', 'POST', '/api/v1/export/realm'],
  ['4.9', 'DELETE', '/api/v1/realm/emoji/{emoji_name}'],
  ['4.10', 'GET', '/api/v1/realm/emoji'],
  ['4.11', 'POST', '/api/v1/mobile_push/e2ee/test_notification'],
  ['4.12', 'POST', '/api/v1/calls/{provider}/create'],
];

const idOf = (method: string | undefined, path: string | undefined): string | undefined =>
  endpoints.find((endpoint) => endpoint.method === method && endpoint.path === path)?.id;

async function functionOf(id: string): Promise<Served> {
  const file = join(import.meta.dirname, '../../functions', `${id.replace('.', '/')}.ts`);
  const { handler } = await import(/* @vite-ignore */ file);
  return handler;
}

const json = { 'Content-Type': 'application/json' };

describe('the operations of the specification', () => {
  it.each(operations)('%s is %s %s (9/paths)', (_, method, path) => {
    expect(idOf(method, path)).toBeDefined();
  });

  it.each(operations)(
    '%s refuses strangers, in the envelope of errors (5/basic, 4/json, 2.1/result, 2.1/msg, 2.1/code)',
    async (_, method, path) => {
      const handler = await functionOf(idOf(method, path) ?? '');
      const variables = { stream_id: '1', domain: 'x.example', emoji_name: 'x', provider: 'zoom' };
      const reply = await sendRaw(await newRealm(), handler, { path: variables });
      expect(reply).toMatchObject({ status: 401, headers: json });
      expect(reply.body).toEqual({
        result: 'error',
        msg: expect.stringMatching(/^[A-Z].+\.$/),
        code: 'UNAUTHORIZED',
      });
    },
  );

  it('answer in the envelope of success, with fields of their own beside it or none (4/json, 2.1/result, 2.1/msg)', async () => {
    const realm = await newRealm();
    const headers = {
      authorization: basic(realm.people.admin),
      'content-type': 'application/x-www-form-urlencoded',
    };
    const listed = await sendRaw(realm, await functionOf('emoji.list'), { headers });
    expect(listed).toMatchObject({ status: 200, headers: json });
    expect(listed.body).toEqual({ result: 'success', msg: '', emoji: {} });
    const edited = await sendRaw(realm, await functionOf('channels.update'), {
      headers,
      path: { stream_id: String(realm.channels.general) },
      body: 'description=x',
    });
    expect(edited).toMatchObject({ status: 200, headers: json });
    expect(edited.body).toEqual({ result: 'success', msg: '' });
  });
});
