import { handler as add } from '../../functions/emoji/add.ts';
import { handler as image } from '../../functions/emoji/image.ts';
import { handler as list } from '../../functions/emoji/list.ts';
import type { emojiObject } from '../../shared/domain/emoji/emoji.ts';
import { picture } from './pictures.ts';
import type { Person, Reply, TestRealm } from './realm.ts';

type WireEmoji = ReturnType<typeof emojiObject>;

/** Uploads an emoji. */
export const upload = async (
  realm: TestRealm,
  as: Person,
  name: string,
  files?: readonly Uint8Array[],
): Promise<Reply> =>
  realm.call(add, as, {}, { path: { emoji_name: name }, files: files ?? [await picture('png')] });

/** The emoji in a listing. */
export const listed = async (realm: TestRealm, as = realm.people.guest): Promise<WireEmoji[]> =>
  Object.values((await realm.call(list, as)).body.emoji as Record<string, WireEmoji>);

/** Fetches what stands at an address of an image, as a browser does: without credentials. */
export async function fetched(realm: TestRealm, url: string) {
  const [, , realmName = '', ...file] = url.split('/');
  const pathParameters = { realm: realmName, file: file.join('/') };
  const event = { headers: { host: realm.host }, pathParameters };
  const answer = await image.with(realm.outside)(event as never);
  return {
    status: answer.statusCode,
    headers: answer.headers ?? {},
    bytes: Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8'),
  };
}
