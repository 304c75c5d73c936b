import { expect } from 'vitest';
import { handler as list } from '../../functions/files/list.ts';
import { handler as upload } from '../../functions/files/upload.ts';
import type { attachmentObject } from '../../shared/domain/files/file.ts';
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

/** The files of somebody, and the space that all files take. */
export async function ownFiles(
  realm: TestRealm,
  as: Person,
): Promise<{ readonly attachments: readonly Attachment[]; readonly upload_space_used: number }> {
  const { status, body } = await realm.call(list, as);
  expect(status, body.msg).toBe(200);
  return body;
}
