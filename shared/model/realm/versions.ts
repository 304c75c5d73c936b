import { ItemVersions, type Versions } from '../../table/item-versions.ts';
import type { Item } from '../../table/write.ts';
import { type Realm, withAllSettings } from './realm.ts';

const lift = <T>(as: (older: T) => object): Versions['lifts'][number] => as as (item: Item) => Item;

/**
 * The kinds of items that have had more than one version, and how older ones become newer. A setting or an attribute
 * that is added makes a new version; what reads the item then finds it in every one. infra/UPGRADES.md tells how.
 */
export const versions: readonly Versions[] = [
  // Older functions read the second one as well: it has more settings, and none that means something else.
  { kind: 'realm', lifts: [lift<Realm>(withAllSettings)], writes: 2 },
];

export const itemVersions = new ItemVersions(versions);
