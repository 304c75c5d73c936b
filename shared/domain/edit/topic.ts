import type { Outside } from '../../kernel/outside.ts';
import { chunksOf } from '../../lists.ts';
import type { Commit } from '../../log/bulk.ts';
import { retryOnConflict } from '../../log/commit.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { type ChannelWithSubscription, mayReadMessage } from '../../model/channel/access.ts';
import { loadMessages } from '../../model/message/load.ts';
import { topicConversation } from '../../model/message/message.ts';
import { currentIds, extents, loadRecentChanges } from '../../model/message/recent.ts';
import {
  type ChannelTopic,
  doResetPolicies,
  loadTopicPolicies,
  type TopicPolicy,
} from '../../model/message/user-topic.ts';
import type { Caller } from '../../model/user/caller.ts';
import { LARGEST_NUMBER } from '../../table/keys.ts';
import { REMOVAL_PACE, removalSteps, removeTogether } from './removal-step.ts';

/** How long (ms) a request deletes messages: its function has 28 s. */
export const DELETING_MS = 20_000;

/** Messages of a batch. */
const BATCH = 100;

/** Policies of one transaction: each takes two writes. */
const POLICIES = 45;

/** Messages of a topic, newest first. */
interface TopicPage {
  readonly messages: readonly MessageSlot[];
  /** All older ones have this number at most; 0 if there are none. */
  readonly below: number;
}

/** What the deletion of a topic begins with. */
export interface TopicSnapshot {
  readonly page: TopicPage;
  readonly policies: readonly TopicPolicy[];
}

/** The newest messages of a topic up to a number. Two round trips. */
async function loadTopicPage(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  { channelId, topic }: ChannelTopic,
  to = LARGEST_NUMBER,
): Promise<TopicPage> {
  const { table } = outside;
  const conversation = topicConversation(channelId, topic);
  const read = currentIds(table, realm, { channelId, conversation }, () =>
    loadRecentChanges(outside, realm, extents.write),
  );
  const { heads, until } = await read({ from: 0, to, side: 'older', limit: BATCH });
  const messages = await loadMessages(
    table,
    realm,
    heads.map(({ id }) => id),
  );
  return {
    // The index may show messages that have left the topic.
    messages: messages.filter((each) => each.conversation === conversation).sort((a, b) => b.id - a.id),
    below: until === undefined ? 0 : until - 1,
  };
}

/** Reads the newest messages of a topic and the policies of users for it. Two round trips. */
export async function loadTopicSnapshot(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  place: ChannelTopic,
): Promise<TopicSnapshot> {
  const [page, policies] = await Promise.all([
    loadTopicPage(outside, realm, place),
    loadTopicPolicies(outside.table, realm, place),
  ]);
  return { page, policies };
}

/**
 * Deletes the messages of a topic that the caller can read, newest first, and then everybody's policy for it (companion
 * facts 4.5). Each transaction is complete by itself, so a request that ends early is continued by the next one.
 *
 * @param seen the channel, with the subscription of the caller, who may read it
 * @returns whether it is done; false if the time was over
 */
export async function deleteTopic(
  outside: Pick<Outside, 'table' | 'now' | 'cache' | 'uuid' | 'wait'>,
  { realmId: realm, standing }: Pick<Caller, 'realmId' | 'standing'>,
  commit: Commit,
  seen: ChannelWithSubscription,
  place: ChannelTopic,
  { page: first, policies }: TopicSnapshot,
): Promise<boolean> {
  const ends = outside.now() + DELETING_MS;
  for (let to = LARGEST_NUMBER; to > 0; ) {
    const from = to;
    // Somebody may send to the topic, or move or delete messages of it, meanwhile.
    const page = await retryOnConflict(outside, async (attempt) => {
      const isFirst = attempt === 1 && from === LARGEST_NUMBER;
      const read = isFirst ? first : await loadTopicPage(outside, realm, place, from);
      for (const step of removalSteps(read.messages.filter(({ id }) => mayReadMessage(standing, seen, id)))) {
        if (outside.now() >= ends) return undefined;
        await removeTogether(outside, realm, commit, step);
        await outside.wait(step.length * REMOVAL_PACE);
      }
      return read;
    });
    if (page === undefined) return false;
    to = page.below;
  }
  const updated = Math.floor(outside.now() / 1000);
  for (const some of chunksOf(policies, POLICIES)) {
    const change = doResetPolicies(realm, place, some, updated);
    await commit(1, () => ({ ...change, result: undefined }));
  }
  return true;
}
