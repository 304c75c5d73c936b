import { folded } from '../../kernel/folding.ts';
import type { MessageHead } from '../../log/message.ts';
import {
  directConversation,
  hasReceived,
  isMentioned,
  isResolved,
  topicConversation,
} from '../../model/message/message.ts';
import { visibility } from '../../model/message/user-topic.ts';
import type { Standing } from '../../model/permission/permission.ts';
import type { Reader } from '../reader/reader.ts';
import { idsWhere, isUnreadBy } from '../reader/streams.ts';
import type { State, Term } from './narrow.ts';

/** Returns the ids of those messages that match. */
type Match = (heads: readonly MessageHead[]) => Promise<ReadonlySet<number>>;

/** The test of a narrow for a reader. Conditions that need only the message come first, so that few need further reads. */
export function matchFor(reader: Reader, standing: Standing, terms: readonly Term[]): Match {
  const plain = terms
    .filter((term) => term.kind !== 'is' || isPlain(term.state))
    .map((term) => ({ test: plainTest(term), negated: term.negated }));
  const personal = terms.filter((term) => term.kind === 'is').filter(({ state }) => !isPlain(state));
  return async (heads) => {
    const left = heads.filter((head) => plain.every(({ test, negated }) => test(head) !== negated));
    const sets = await Promise.all(personal.map(({ state }) => idsIn(state, reader, standing, left)));
    const matching = left.filter(({ id }) =>
      personal.every(({ negated }, i) => sets[i]?.has(id) !== negated),
    );
    return new Set(matching.map(({ id }) => id));
  };
}

/** Whether a state is the same for all readers. */
const isPlain = (state: State): boolean => state === 'dm' || state === 'resolved' || state === 'alerted';

function plainTest(term: Term): (head: MessageHead) => boolean {
  switch (term.kind) {
    case 'channel':
      return ({ channelId }) => channelId === term.channel;
    case 'topic': {
      const topic = folded(term.topic);
      return (head) => head.channelId !== undefined && folded(head.topic ?? '') === topic;
    }
    case 'dm': {
      const direct = directConversation(term.people);
      return ({ conversation }) => conversation === direct;
    }
    case 'dmIncluding':
      return ({ people }) => term.people.every((id) => people?.includes(id) === true);
    case 'sender':
      return ({ senderId }) => senderId === term.user;
    case 'id':
      return ({ id }) => id === term.id;
    case 'is':
      if (term.state === 'dm') return ({ channelId }) => channelId === undefined;
      if (term.state === 'resolved') return ({ topic }) => isResolved(topic ?? '');
      // Alert words are not supported.
      return () => false;
  }
}

/** The ids of the messages in a state that depends on the reader. */
async function idsIn(
  state: State,
  reader: Reader,
  standing: Standing,
  heads: readonly MessageHead[],
): Promise<ReadonlySet<number>> {
  if (heads.length === 0) return new Set();
  if (state === 'starred') {
    const ids = heads.map(({ id }) => id);
    return reader.stars(Math.min(...ids), Math.max(...ids));
  }
  if (state === 'followed') {
    const policies = await reader.topicPolicies();
    const followed = new Set(
      policies
        .filter(({ policy }) => policy === visibility.followed)
        .map(({ channelId, topic }) => topicConversation(channelId, topic)),
    );
    return idsWhere(heads, async ({ conversation }) => followed.has(conversation));
  }
  if (state === 'unread') return idsWhere(heads, (head) => isUnreadBy(reader, head));
  return idsWhere(heads, (head) => mentionsReader(reader, standing, head));
}

/** Whether a message mentions the reader by name, by a group, or by a wildcard. */
export async function mentionsReader(
  reader: Reader,
  standing: Standing,
  head: MessageHead,
): Promise<boolean> {
  const { mentions, channelId, topic = '' } = head;
  if (mentions === undefined || !(await hasReceived(reader, head))) return false;
  if (isMentioned(head, standing) || mentions.channel === true) return true;
  return mentions.topic === true && channelId !== undefined && reader.takesPart(channelId, topic);
}
