import { expect } from 'vitest';
import { handler as getFile } from '../../functions/files/get.ts';
import { handler as list } from '../../functions/files/list.ts';
import { handler as upload } from '../../functions/files/upload.ts';
import type { attachmentObject } from '../../shared/domain/files/file.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { holdingToGrants } from './grants.ts';
import type { Person, Reply, SentFile, TestRealm } from './realm.ts';

export type Attachment = ReturnType<typeof attachmentObject>;

/** A small text as a file. */
export const note: SentFile = { bytes: Buffer.from('milk, bread'), name: 'list.txt', type: 'text/plain' };

/** Uploads files in one request. */
export const uploading = (realm: TestRealm, as: Person, ...files: readonly SentFile[]): Promise<Reply> =>
  realm.call(upload, as, {}, { files });

/** Uploads a file, which must work; tells its path. */
export async function uploaded(realm: TestRealm, as: Person, file: SentFile = note): Promise<string> {
  const { status, body } = await uploading(realm, as, file);
  expect(status, body.msg).toBe(200);
  return body.url;
}

/** The files of a user, and the space that all files take. */
export async function ownFiles(
  realm: TestRealm,
  as: Person,
): Promise<{ readonly attachments: readonly Attachment[]; readonly upload_space_used: number }> {
  const { status, body } = await realm.call(list, as);
  expect(status, body.msg).toBe(200);
  return body;
}

/** The parts of a file's path, as a request has them. */
export function pathOf(url: string) {
  const [realm_id = '', shard = '', token = '', name = ''] = url.split('/').slice(-4);
  return { realm_id, shard, token, name };
}

/** Gets a file as a browser or a program does. */
export async function gotten(
  realm: TestRealm,
  as: Person | undefined,
  url: string,
  {
    handler = getFile,
    headers = {},
    path = pathOf(url),
  }: {
    readonly handler?: Served;
    readonly headers?: Readonly<Record<string, string>>;
    readonly path?: Readonly<Record<string, string>>;
  } = {},
) {
  const credentials = as && Buffer.from(`${as.email}:${as.apiKey}`).toString('base64');
  const event = {
    path: url,
    headers: { host: realm.host, ...(credentials && { authorization: `Basic ${credentials}` }), ...headers },
    pathParameters: Object.fromEntries(
      Object.entries(path).map(([field, part]) => [field, encodeURIComponent(part)]),
    ),
  };
  const reply = await holdingToGrants(handler.endpoint, () => handler.with(realm.outside)(event as never));
  return {
    status: reply.statusCode,
    headers: (reply.headers ?? {}) as Readonly<Record<string, string>>,
    bytes: Buffer.from(reply.body, reply.isBase64Encoded ? 'base64' : 'utf8'),
  };
}

/** Whether a user can get a file. */
export const canGet = async (realm: TestRealm, as: Person, url: string): Promise<boolean> => {
  const { status } = await gotten(realm, as, url);
  expect([200, 403]).toContain(status);
  return status === 200;
};

/** The text of a message that links to files. */
export const linkTo = (...urls: readonly string[]): string => urls.map((url) => `[a file](${url})`).join(' ');
