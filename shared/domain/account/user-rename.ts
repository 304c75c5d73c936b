import { folded } from '../../kernel/folding.ts';
import type { EventEntry } from '../../log/slot.ts';
import { personEvent } from '../../model/user/active.ts';
import { type Namesakes, nameWrite, unnameWrite } from '../../model/user/namesakes.ts';
import type { User } from '../../model/user/user.ts';
import type { Write } from '../../table/write.ts';

/**
 * Gives an account another name, for mentions too, and tells everybody. What `set` says belongs into the write of
 * the account, which must be held to the name that it had. `namesakes` as in `nameWrite`.
 */
export function doRename(
  realm: string,
  { userId, fullName: before }: User,
  fullName: string,
  namesakes?: Namesakes,
): {
  readonly set: Pick<User, 'fullName'>;
  readonly writes: readonly Write[];
  readonly entries: readonly EventEntry[];
} {
  // Another spelling of the same letters is found under the same name.
  const isFoundAnew = folded(before) !== folded(fullName);
  return {
    set: { fullName },
    writes: isFoundAnew
      ? [nameWrite(realm, fullName, userId, namesakes), unnameWrite(realm, before, userId)]
      : [],
    entries: [personEvent(userId, { full_name: fullName })],
  };
}
