import { randomBytes } from 'node:crypto';
import { handler as remove } from '../../functions/messages/delete.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { onlyUser } from '../../shared/model/permission/permission.ts';
import { givenChannel, givenSubscription, givenUser } from '../support/given.ts';
import type { Person, TestRealm } from '../support/realm.ts';

/** A text that stands in one place only, and whom a reply may tell it. */
export interface Secret {
  /** Lower-case letters and digits, so that it comes out as it went in, whatever is done to the text around it. */
  readonly mark: string;
  readonly what: string;
  /** The organization that it is of. */
  readonly realm: string;
  /** Everybody there may see it; if absent, nobody who calls. */
  readonly isCommon?: true;
}

/** A text that nobody else uses. */
export const newMark = (): string => `zq${randomBytes(8).toString('hex')}`;

/** What is hidden in an organization, and those who hide it. They never call while it is being looked for. */
export interface Hidden {
  readonly hermits: readonly Person[];
  /** What everybody may see, of this organization only. */
  readonly inside: string;
  readonly secrets: readonly Secret[];
  readonly channelIds: readonly number[];
  readonly messageIds: readonly number[];
  readonly topics: readonly string[];
  readonly names: readonly string[];
}

/**
 * Hides texts: in a private channel of two hermits, in the protected history of a channel with a subscriber who came
 * later, in their direct messages, in a message that was deleted, and in the keys of everybody.
 */
export async function hide(realm: TestRealm, latecomer: Person): Promise<Hidden> {
  const [first, second] = [await givenUser(realm), await givenUser(realm)];
  const hermits = [first, second];
  const secrets: Secret[] = [];
  const secret = (what: string, isCommon = false): string => {
    const mark = newMark();
    secrets.push({ mark, what, realm: realm.realm, ...(isCommon && { isCommon }) });
    return mark;
  };
  for (const { email, apiKey } of [...Object.values(realm.people), ...hermits]) {
    secrets.push({ mark: apiKey, what: `the key of ${email}`, realm: realm.realm });
  }
  const groups = {
    can_administer_channel_group: onlyUser(first.userId),
    can_add_subscribers_group: onlyUser(first.userId),
  };
  const name = `hidden ${newMark()}`;
  const closed = await givenChannel(realm, { name, isPrivate: true, groups }, hermits);
  const guarded = await givenChannel(
    realm,
    { isPrivate: true, historyPublicToSubscribers: false, groups },
    hermits,
  );
  const say = async (parameters: Record<string, unknown>): Promise<number> => {
    const { body } = await realm.call(send, first, parameters);
    if (body.id === undefined) throw new Error(`a secret was not told: ${body.msg}`);
    return body.id;
  };
  const topic = secret('the topic in a private channel');
  const messageIds = [
    await say({
      type: 'channel',
      to: closed.channelId,
      topic,
      content: secret('a message in a private channel'),
    }),
    await say({ type: 'direct', to: [second.userId], content: secret('a direct message of others') }),
    await say({ type: 'channel', to: guarded.channelId, topic: 'x', content: secret('protected history') }),
  ];
  const gone = await say({
    type: 'channel',
    to: 'general',
    topic: 'gone',
    content: secret('a deleted message'),
  });
  await realm.call(remove, realm.people.owner, {}, { path: { message_id: gone } });
  await givenSubscription(realm, latecomer, guarded.channelId);
  return {
    hermits,
    inside: secret('another organization', true),
    secrets,
    channelIds: [closed.channelId, guarded.channelId],
    messageIds: [...messageIds, gone],
    topics: ['x', 'gone'],
    names: [name],
  };
}
