import type { Outside } from '../../shared/kernel/outside.ts';
import type { Organization } from '../../shared/model/realm/hosts.ts';
import { versions } from '../../shared/model/realm/realm.ts';
import { newestOf, writtenVersions } from '../../shared/table/stored-item.ts';
import { migrate } from './migration.ts';

/** Milliseconds from one sign of life to the next. */
const patience = 10_000;

/**
 * Upgrades the items of organizations to the newest versions that this release writes, one organization and one kind
 * after the other. Prints how each of them ended, and the progress of long ones.
 */
export async function migrateOrganizations(
  outside: Outside,
  organizations: readonly Pick<Organization, 'realm' | 'name'>[],
  tell: (line: string) => void,
): Promise<void> {
  for (const { realm, name } of organizations) {
    for (const kind of versions) {
      const of = `'${name}' (ID ${realm}), ${kind.kind}`;
      const written = writtenVersions(kind);
      if (kind.writes === 1) {
        tell(`${of}: version ${newestOf(kind)} is not written by this release yet.`);
        continue;
      }
      for (let isComplete = false; !isComplete; ) {
        const migration = await migrate(outside, realm, written, outside.now() + patience);
        isComplete = migration.isComplete;
        const state = isComplete ? `is complete in version ${migration.version}` : 'goes on';
        tell(`${of}: ${state}, ${migration.changed} changed.`);
      }
    }
  }
}
