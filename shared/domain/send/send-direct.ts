import { badRequest } from '../../kernel/errors.ts';
import { firstCodePoints } from '../../kernel/folding.ts';
import { isId } from '../../kernel/id.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import { directConversation } from '../../model/message/conversation.ts';
import {
  type Conversation,
  checkDirectPermission,
  checkRecipients,
  doArriveDirect,
} from '../../model/message/direct.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { User } from '../../model/user/user.ts';
import { checkGroupMentions } from '../mention/mention-permission.ts';
import { foundFor, type LoadedReferences } from '../mention/naming.ts';
import { checkSize, type DirectRecipient } from './recipient.ts';
import type { Delivery, Draft } from './send.ts';

/** Somebody to write to: how the sender named them, and who that is. */
interface Addressee {
  readonly named: string;
  readonly user: User | undefined;
}

/** The recipients as far as they were found, and their conversation with the sender if it has begun. */
export interface Correspondence {
  readonly addressees: readonly Addressee[];
  readonly conversation: Conversation | undefined;
}

/** How each recipient was named, and the id that it leads to. */
function addressed(
  recipient: DirectRecipient,
  resolved: Resolved,
): { named: string; userId: number | undefined }[] {
  if ('ids' in recipient) {
    return recipient.ids.map((id) => ({ named: `user ID ${id}`, userId: isId(id) ? id : undefined }));
  }
  return recipient.emails.map((email) => ({
    named: `email '${firstCodePoints(email, limits.email)}'`,
    userId: resolved.follow({ kind: 'account', email })?.userId,
  }));
}

/** Reads the recipients and their conversation with the sender, in one round trip. */
export async function loadCorrespondence(
  { table }: Outside,
  senderId: number,
  recipient: DirectRecipient,
  resolved: Resolved,
): Promise<Correspondence> {
  const { realm } = resolved;
  const targets = addressed(recipient, resolved);
  const ids = targets.flatMap(({ userId }) => userId ?? []);
  const conversation = directConversation([...ids, senderId]);
  const [found, addressees] = await Promise.all([
    table.get('conversation', { realm, conversation }),
    Promise.all(
      targets.map(async ({ named, userId }) => ({
        named,
        user: userId === undefined ? undefined : await table.get('user', { realm, userId }),
      })),
    ),
  ]);
  return { addressees, conversation: found };
}

/**
 * The people of the conversation, the sender among them, in the order of their ids. A recipient who does not exist
 * is `BAD_REQUEST` (specification 4.1 rule 3), and one who is hidden from the sender is no different from that.
 */
export function accessPeople(
  sender: User,
  { addressees }: Correspondence,
  hidden: ReadonlySet<number>,
): User[] {
  const people = new Map([[sender.userId, sender]]);
  for (const { named, user } of addressees) {
    if (user === undefined || hidden.has(user.userId)) throw badRequest(`Invalid ${named}.`);
    people.set(user.userId, user);
  }
  checkSize(people.size);
  return [...people.values()].sort((a, b) => a.userId - b.userId);
}

/** Decides on a direct message: recipients, permissions, rendering, mentions (wire facts 3.3, 3.8). */
export async function checkDirectMessage(
  outside: Outside,
  caller: Caller,
  { content }: Draft,
  people: readonly User[],
  conversation: Conversation | undefined,
  named: LoadedReferences,
): Promise<Rendered> {
  checkRecipients(people);
  await checkDirectPermission(outside, caller, people, conversation === undefined);
  const rendered = render(content, foundFor(caller.standing, named));
  checkGroupMentions(caller, named.groups, rendered.mentionedGroupIds);
  return rendered;
}

/** A message to these people (ids in rising order), as it is delivered once it was decided on. */
export function directDelivery(
  realm: string,
  people: readonly number[],
  found: Conversation | undefined,
  rendered: Rendered,
): Delivery {
  const conversation = directConversation(people);
  return {
    place: { people, conversation },
    ...(found && { recipientId: found.recipientId }),
    rendered,
    before: [],
    writesFor: (messageId) => doArriveDirect(realm, conversation, people, messageId, found !== undefined),
  };
}
