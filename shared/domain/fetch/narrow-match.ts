import { folded } from '../../kernel/text.ts';
import type { MessageHead } from '../../log/message.ts';
import type { Channel } from '../../model/channel/channel.ts';
import { directConversation, hasReceived, isMentioned, isResolved } from '../../model/message/message.ts';
import { visibility } from '../../model/message/user-topic.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { isMuted } from '../reader/muting.ts';
import type { Reader } from '../reader/reader.ts';
import { idsWhere, isUnreadBy } from '../reader/streams.ts';
import { isState, type Term } from './narrow.ts';
import type { ChannelSet, State } from './term.ts';

/** Returns the ids of those messages that match. */
export type Match = (heads: readonly MessageHead[]) => Promise<ReadonlySet<number>>;

/** A condition that the text of a message or its reactions decide (text-match.ts). */
export type TextTerm =
  | Extract<Term, { readonly kind: 'has' | 'search' }>
  | (Extract<Term, { readonly kind: 'is' }> & { readonly state: 'alerted' });
type HeadTerm = Exclude<Term, { readonly kind: 'has' | 'search' }>;

/** Whether a condition needs more than the head of a message. */
export const isAboutText = (term: Term): term is TextTerm =>
  term.kind === 'has' || term.kind === 'search' || isState('alerted', term);

/**
 * The test of a narrow for a reader, without the conditions about texts. Conditions that need only the message come
 * first, so that few messages need further reads.
 */
export function matchFor(reader: Reader, standing: Standing, terms: readonly Term[]): Match {
  const aboutHeads = terms.filter((term): term is HeadTerm => !isAboutText(term));
  const plain = aboutHeads.flatMap((term) => {
    const test = headTest(term);
    return test ? [{ test, negated: term.negated }] : [];
  });
  const personal = aboutHeads.filter((term) => headTest(term) === undefined);
  return async (heads) => {
    const left = heads.filter((head) => plain.every(({ test, negated }) => test(head) !== negated));
    const sets = await Promise.all(personal.map((term) => idsFor(term, reader, standing, left)));
    const matching = left.filter(({ id }) =>
      personal.every(({ negated }, i) => sets[i]?.has(id) !== negated),
    );
    return new Set(matching.map(({ id }) => id));
  };
}

/** The test of a condition that is the same for all readers; undefined for any other. Not negated. */
export function headTest(term: Term): ((head: MessageHead) => boolean) | undefined {
  switch (term.kind) {
    case 'channel':
      return ({ channelId }) => channelId === term.channel;
    case 'topic': {
      const topic = folded(term.topic);
      return (head) => head.channelId !== undefined && folded(head.topic ?? '') === topic;
    }
    case 'dm': {
      if (term.people.length === 0) return () => false;
      const direct = directConversation(term.people);
      return ({ conversation }) => conversation === direct;
    }
    case 'dmIncluding':
      return ({ people }) => people !== undefined && includes(people, term.people);
    case 'groupDmIncluding':
      return ({ people }) => people !== undefined && people.length > 2 && includes(people, term.people);
    case 'sender':
      return ({ senderId }) => senderId === term.user;
    case 'mentions':
      return ({ mentions }) => mentions?.users?.includes(term.user) === true;
    case 'id':
      return ({ id }) => id === term.id;
    case 'is':
      return plainStates[term.state];
    default:
      return undefined;
  }
}

const includes = (people: readonly number[], some: readonly number[]): boolean =>
  some.every((id) => people.includes(id));

/** The states that are the same for all readers. */
const plainStates: { readonly [S in State]?: (head: MessageHead) => boolean } = {
  dm: ({ channelId }) => channelId === undefined,
  resolved: ({ topic }) => isResolved(topic ?? ''),
};

/** The ids of the messages that meet a condition which depends on the reader. */
async function idsFor(
  term: HeadTerm,
  reader: Reader,
  standing: Standing,
  heads: readonly MessageHead[],
): Promise<ReadonlySet<number>> {
  if (heads.length === 0) return new Set();
  if (term.kind === 'home') return idsWhere(heads, async (head) => !(await isMuted(reader, head)));
  if (term.kind === 'channels') {
    return idsWhere(heads, async ({ channelId }) => {
      const seen = channelId === undefined ? undefined : await reader.channel(channelId);
      return seen !== undefined && isInSet[term.channels](seen.channel);
    });
  }
  return term.kind === 'is' ? idsIn(term.state, reader, standing, heads) : new Set();
}

const isInSet: { readonly [S in ChannelSet]: (channel: Channel) => boolean } = {
  public: ({ isPrivate }) => !isPrivate,
  'web-public': ({ isWebPublic }) => isWebPublic,
  archived: ({ isArchived }) => isArchived,
};

/** The ids of the messages in a state that depends on the reader. */
async function idsIn(
  state: State,
  reader: Reader,
  standing: Standing,
  heads: readonly MessageHead[],
): Promise<ReadonlySet<number>> {
  switch (state) {
    case 'starred': {
      const ids = heads.map(({ id }) => id);
      return reader.stars(Math.min(...ids), Math.max(...ids));
    }
    case 'followed': {
      const policies = await reader.policies();
      return idsWhere(heads, async ({ conversation }) => policies.get(conversation) === visibility.followed);
    }
    case 'muted':
      return idsWhere(heads, (head) => isMuted(reader, head));
    case 'unread':
      return idsWhere(heads, (head) => isUnreadBy(reader, head));
    case 'mentioned':
      return idsWhere(heads, (head) => mentionsReader(reader, standing, head));
    // The others are the same for all readers, or need the text.
    default:
      return new Set();
  }
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
