import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Group } from '../../model/group/group.ts';
import { holds } from '../../model/permission/permission.ts';
import { systemGroups } from '../../model/permission/system-group.ts';
import { limits } from '../../model/realm/realm.ts';
import type { Caller } from '../../model/user/caller.ts';

/** What is counted of the people whom a wildcard mention would notify. */
export interface Crowd {
  readonly subscribers: number;
  /** People who take part in the topic, the sender included. */
  readonly participants: number;
}

/** Decides whether the message may notify so many people (specification 4.1 rule 3, wire facts 3.7). */
export function checkWildcards(
  { standing, realm }: Pick<Caller, 'standing' | 'realm'>,
  mentions: { readonly channelWildcard: boolean; readonly topicWildcard: boolean },
  crowd: Crowd,
): void {
  if (holds(standing, realm.settings.can_mention_many_users_group)) return;
  if (mentions.channelWildcard && crowd.subscribers > limits.wildcard)
    throw refusal('channelWildcardRefused');
  if (mentions.topicWildcard && crowd.participants > limits.wildcard) throw refusal('topicWildcardRefused');
}

/**
 * Decides whether the caller may mention these groups, in any kind of message (wire facts 3.7). Nobody may mention
 * the groups of the roles, which would be a wildcard of no limit.
 */
export function checkGroupMentions(
  { standing }: Pick<Caller, 'standing'>,
  groups: readonly Group[],
  mentioned: readonly number[],
): void {
  const role = Object.values(systemGroups).find(({ id }) => mentioned.includes(id));
  const refused =
    role ??
    groups.find(
      ({ groupId, settings }) => mentioned.includes(groupId) && !holds(standing, settings.can_mention_group),
    );
  if (refused) throw badRequest(`You do not have permission to mention the group '${refused.name}'.`);
}
