import { isOf, type Key, peopleOf, userOf } from '../table/keys.ts';
import { keyOf, type Write } from '../table/write.ts';

/** What registrations do not read: records of sends, counts of topics, reactions. */
const unread = [isOf('sent'), isOf('topic'), isOf('reaction'), isOf('reactions')];

/** What only the registration of one user reads although it stands elsewhere. Their id ends the key. */
const personal = [isOf('participant'), isOf('topicPolicy')];

/** More owners than this are not noted: such a change is rare, and a slot must stay small. */
const MAX_OWNERS = 10;

/**
 * The users in whose own items a commit writes; undefined if it writes something that the registrations of others read too,
 * or for too many. Nothing says so if that is wrong but a state that lacks a change, so a kind is listed here only where
 * `test/events/register-wait.test.ts` shows that nobody else's registration reads it.
 */
export function ownersOf(writes: readonly Write[]): readonly number[] | undefined {
  const owners = new Set<number>();
  for (const write of writes) {
    const at = keyOf(write);
    if ('check' in write || unread.some((has) => has(at))) continue;
    const ids = readersOf(at);
    if (ids.length === 0) return undefined;
    for (const id of ids) owners.add(id);
  }
  return owners.size > MAX_OWNERS ? undefined : [...owners];
}

const isConversation = isOf('conversation');

/** The users whose registrations read an item, if they can be seen in its key. */
function readersOf(at: Key): readonly number[] {
  if (isConversation(at)) return peopleOf(at.pk.slice(at.pk.lastIndexOf('/') + 1));
  if (personal.some((has) => has(at))) return [Number(at.sk.slice(at.sk.lastIndexOf('/') + 1))];
  const owner = userOf(at);
  return owner === undefined ? [] : [owner];
}
