import { refusal } from '../../kernel/errors.ts';
import type { Objects } from '../../kernel/outside.ts';
import { isShownInline } from './content-type.ts';
import { objectKey, type StoredFile, UPLOADS } from './file.ts';

/** A file with its bytes. 404 if they are gone: its removal was faster. */
export async function accessBytes(
  objects: Pick<Objects, 'get'>,
  realm: string,
  { token, name, contentType }: StoredFile,
  mayShow: boolean,
) {
  const stored = await objects.get(UPLOADS, objectKey(realm, token));
  if (stored === undefined) throw refusal('noSuchFile');
  return { bytes: stored.bytes, contentType, name, isInline: mayShow && isShownInline(contentType) };
}
