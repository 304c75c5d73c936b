import { folded } from '../../kernel/folding.ts';
import type { MessageHead } from '../../log/message.ts';
import {
  directConversation,
  hasReceived,
  isMentioned,
  topicConversation,
} from '../../model/message/message.ts';
import { visibility } from '../../model/message/user-topic.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { isUnreadBy } from '../reader/lanes.ts';
import type { Facts } from '../reader/supposed.ts';
import type { State, Term } from './narrow.ts';

/** Resolved topics begin with this mark. */
const RESOLVED = '✔ ';

/** Tells of some messages which are in a narrow. */
export type Match = (heads: readonly MessageHead[]) => Promise<ReadonlySet<number>>;

/**
 * Makes the test of a narrow for one reader. Conditions that need nothing but the message come first, so that what
 * the others need is read for few.
 */
export function matchFor(reader: Facts, standing: Standing, terms: readonly Term[]): Match {
  const plain = terms.filter((term) => term.kind !== 'is' || isPlain(term.state));
  const personal = terms.flatMap((term) =>
    term.kind === 'is' && !isPlain(term.state) ? [{ state: term.state, negated: term.negated }] : [],
  );
  const tests = plain.map((term) => ({ test: plainTest(term), negated: term.negated }));
  return async (heads) => {
    const left = heads.filter((head) => tests.every(({ test, negated }) => test(head) !== negated));
    const wanted = await Promise.all(
      personal.map(async ({ state, negated }) => {
        const inState = await headsIn(state, reader, standing, left);
        return ({ id }: MessageHead): boolean => inState.has(id) !== negated;
      }),
    );
    return new Set(left.filter((head) => wanted.every((test) => test(head))).map(({ id }) => id));
  };
}

/** Whether a state is one of the message, whoever reads it. */
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
      const wanted = directConversation(term.people);
      return ({ conversation }) => conversation === wanted;
    }
    case 'dmIncluding':
      return ({ people }) => term.people.every((id) => people?.includes(id) === true);
    case 'sender':
      return ({ senderId }) => senderId === term.user;
    case 'id':
      return ({ id }) => id === term.id;
    case 'is':
      if (term.state === 'dm') return ({ channelId }) => channelId === undefined;
      if (term.state === 'resolved') return ({ topic }) => topic?.startsWith(RESOLVED) === true;
      // Nobody has alert words here.
      return () => false;
  }
}

/** Which of the messages are in a state that depends on the reader. */
async function headsIn(
  state: State,
  reader: Facts,
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
  return idsWhere(heads, (head) => addresses(reader, standing, head));
}

/** The ids of the messages of which something is true. */
export async function idsWhere(
  heads: readonly MessageHead[],
  test: (head: MessageHead) => Promise<boolean>,
): Promise<ReadonlySet<number>> {
  const results = await Promise.all(heads.map(test));
  return new Set(heads.filter((_, i) => results[i]).map(({ id }) => id));
}

/** Whether a message mentions the reader: by name, by one of their groups, or by a wildcard that means them. */
export async function addresses(reader: Facts, standing: Standing, head: MessageHead): Promise<boolean> {
  const { mentions, channelId, topic = '' } = head;
  if (mentions === undefined || !(await hasReceived(reader, head))) return false;
  if (isMentioned(head, standing) || mentions.channel === true) return true;
  return mentions.topic === true && channelId !== undefined && reader.takesPart(channelId, topic);
}
