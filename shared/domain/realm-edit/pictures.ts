import type { Objects, Outside } from '../../kernel/outside.ts';
import type { Commit } from '../../log/bulk.ts';
import type { Change } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import {
  checkPictureSize,
  commitImages,
  imageKey,
  imagePath,
  isMadeOf,
  keyOfPath,
  pictureName,
  removeImages,
} from '../../model/realm/picture.ts';
import type { Realm, RealmPictureName } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import { organizationIcon } from '../../model/user/object.ts';
import { doSet } from './edit.ts';

/** The addresses of the pictures as clients see them, by event (companion facts 4.8). Without a logo it is empty. */
export const realmPictures = ({ uuid, pictures = {} }: Pick<Realm, 'uuid' | 'pictures'>) => ({
  icon: { icon_url: pictures.icon ?? organizationIcon(uuid), icon_source: pictures.icon ? 'U' : 'G' },
  logo: { logo_url: pictures.logo ?? '', logo_source: pictures.logo ? 'U' : 'D' },
  night_logo: {
    night_logo_url: pictures.night_logo ?? '',
    night_logo_source: pictures.night_logo ? 'U' : 'D',
  },
});

/** Sets a picture of the organization, or removes it; on condition that the organization is unchanged. */
export function doSetRealmPicture(
  realm: string,
  before: Realm,
  name: RealmPictureName,
  path: string | undefined,
): Change<void> {
  const { [name]: _, ...others } = before.pictures ?? {};
  const pictures = { ...others, ...(path !== undefined && { [name]: path }) };
  const data = realmPictures({ ...before, pictures })[name];
  return {
    writes: [doSet(realm, before, { pictures })],
    entries: [eventForEveryone({ type: 'realm', op: 'update_dict', property: name, data })],
    result: undefined,
  };
}

/** What changes a picture. */
interface PictureRequest {
  readonly caller: Pick<Caller, 'realmId' | 'realm'>;
  readonly outside: Pick<Outside, 'randomBytes'>;
  readonly commit: Commit;
  readonly clients: { readonly objects: Pick<Objects, 'put' | 'remove'> };
}

/**
 * Replaces a picture by what `draw` makes of a file, and returns its path. The same file again changes nothing. Throws
 * `BAD_REQUEST` for a file that is too large.
 */
export async function replaceRealmPicture(
  { caller, outside, commit, clients: { objects } }: PictureRequest,
  name: RealmPictureName,
  file: Uint8Array,
  draw: (file: Uint8Array) => Promise<Uint8Array>,
): Promise<string> {
  const { realmId, realm } = caller;
  const former = realm.pictures?.[name];
  checkPictureSize(file);
  if (former !== undefined && isMadeOf(former, file)) return former;
  const stored = `realm/${pictureName(file, outside.randomBytes)}.png`;
  const path = imagePath(realmId, stored);
  await commitImages(
    objects,
    [[imageKey(realmId, stored), await draw(file), 'image/png']],
    () => commit(1, () => doSetRealmPicture(realmId, realm, name, path)),
    former === undefined ? [] : [keyOfPath(former)],
  );
  return path;
}

/** Removes a picture, if there is one. */
export async function removeRealmPicture(
  { caller, commit, clients: { objects } }: Omit<PictureRequest, 'outside'>,
  name: RealmPictureName,
): Promise<void> {
  const { realmId, realm } = caller;
  const former = realm.pictures?.[name];
  if (former === undefined) return;
  await commit(1, () => doSetRealmPicture(realmId, realm, name, undefined));
  await removeImages(objects, [keyOfPath(former)]);
}
