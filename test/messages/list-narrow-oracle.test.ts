import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handler as matches } from '../../functions/messages/matchesNarrow.ts';
import { handler as markNarrow } from '../../functions/messages/updateFlagsForNarrow.ts';
import { handler as react } from '../../functions/reactions/add.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { Reader } from '../../shared/domain/reader/reader.ts';
import { uniqueSorted } from '../../shared/lists.ts';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { givenChannel, givenMutedChannel, givenUserTopic } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { fetched, sent } from '../support/messages.ts';
import { newRealm, type Person, type TestRealm } from '../support/realm.ts';

/** A message as a fetch by its id returns it, which is the input of the oracle. */
interface Told {
  readonly id: number;
  readonly sender_id: number;
  readonly stream_id?: number;
  readonly subject: string;
  readonly content: string;
  readonly reactions: readonly unknown[];
  readonly display_recipient: string | readonly { readonly id: number }[];
  readonly flags: readonly string[];
}

type Test = (message: Told) => boolean;

interface Term {
  readonly operator: string;
  readonly operand: unknown;
  readonly test: Test;
  /** What it wants of the combination rules. */
  readonly wants?: 'channel' | 'direct';
}

const topics = ['tea', 'Lunch', '✔ tea', ''] as const;
const contents = [
  'text',
  'https://a.example/b.png',
  '@**Adam Admin**',
  '@**all** https://a.example',
  '`https://x`',
];

type Step =
  | {
      readonly kind: 'send';
      readonly by: number;
      readonly to: number;
      readonly topic: number;
      readonly text: number;
    }
  | { readonly kind: 'direct'; readonly by: number; readonly to: number; readonly text: number }
  | { readonly kind: 'join' | 'leave'; readonly by: number; readonly to: number }
  | { readonly kind: 'move'; readonly message: number; readonly to: number; readonly topic: number }
  | { readonly kind: 'react'; readonly by: number; readonly message: number };

const some = (most: number) => fc.nat({ max: most - 1 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('send' as const),
        by: some(4),
        to: some(5),
        topic: some(4),
        text: some(5),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('direct' as const), by: some(4), to: some(4), text: some(5) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('join' as const, 'leave' as const),
        by: some(4),
        to: some(5),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('move' as const),
        message: fc.nat(),
        to: some(5),
        topic: some(4),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('react' as const), by: some(4), message: fc.nat() }),
    },
  ),
  { minLength: 35, maxLength: 45 },
);

/** An organization in which the steps were tried; some are refused. */
async function given(all: readonly Step[]) {
  const realm = await newRealm();
  const { member, admin, owner, guest } = realm.people;
  const people = [member, admin, owner, guest];
  const closed = await givenChannel(realm, { isPrivate: true }, [member, admin]);
  const shielded = await givenChannel(realm, { isPrivate: true, historyPublicToSubscribers: false }, [
    member,
  ]);
  const web = await givenChannel(realm, { isWebPublic: true }, [member]);
  const channels = [
    realm.channels.general,
    realm.channels.random,
    closed.channelId,
    shielded.channelId,
    web.channelId,
  ];
  const names = ['general', 'random', closed.name, shielded.name, web.name];
  const ids: number[] = [];
  const person = (i: number): Person => people[i] ?? member;
  for (const step of all) {
    const to = 'to' in step ? (channels[step.to] ?? 0) : 0;
    if (step.kind === 'send') {
      const topic = topics[step.topic] ?? 'tea';
      const id = await sent(realm, person(step.by), { to, topic }, contents[step.text]).catch(
        () => undefined,
      );
      if (id !== undefined) ids.push(id);
    } else if (step.kind === 'direct') {
      const others = [person(step.to), ...(step.text % 2 === 0 ? [owner] : [])];
      ids.push(await sent(realm, person(step.by), { people: others }, contents[step.text]));
    } else if (step.kind === 'join' || step.kind === 'leave') {
      // The administrator mutes the second channel below, so they stay in it.
      if (person(step.by) === admin && step.to === 1) continue;
      const subscriptions = [{ name: names[step.to] }];
      if (step.kind === 'leave')
        await realm.call(unsubscribe, person(step.by), { subscriptions: [names[step.to]] });
      else await realm.call(subscribe, member, { subscriptions, principals: [person(step.by).userId] });
    } else if ('message' in step) {
      const message_id = ids[step.message % Math.max(1, ids.length)] ?? 0;
      if (step.kind === 'move')
        await move(realm, owner, message_id, { stream_id: to, topic: topics[step.topic] });
      else await realm.call(react, person(step.by), { emoji_name: 'tada' }, { path: { message_id } });
    }
  }
  await givenUserTopic(realm, admin, realm.channels.general, 'tea', visibility.followed);
  await givenUserTopic(realm, admin, realm.channels.general, 'lunch', visibility.muted);
  await givenUserTopic(realm, admin, realm.channels.random, 'tea', visibility.unmuted);
  return { realm, ids, channels, closed: [closed.channelId, shielded.channelId], web: web.channelId };
}

type World = Awaited<ReturnType<typeof given>>;

/** All that a user can fetch by its id. */
async function readable({ realm, ids }: World, as: Person): Promise<Told[]> {
  const { body } = await fetched(realm, as, { message_ids: ids, allow_empty_topic_name: true });
  return body.messages;
}

const people = ({ display_recipient: told }: Told): number[] =>
  typeof told === 'string' ? [] : told.map(({ id }) => id);
const isDirect: Test = ({ stream_id }) => stream_id === undefined;
const isReceived: Test = ({ flags }) => !flags.includes('historical');
const has =
  (...any: readonly string[]): Test =>
  ({ flags }) =>
    any.some((flag) => flags.includes(flag));

/** The policy of a user for the topic of each message, and whether they muted its channel. */
async function policiesOf({ realm }: World, as: Person) {
  const reader = new Reader(realm.outside, realm.realm, as.userId);
  const [policies, subscriptions] = await Promise.all([reader.topicPolicies(), reader.subscriptions()]);
  const policyOf = ({ stream_id, subject }: Told) =>
    policies.find(
      ({ channelId, topic }) => channelId === stream_id && topic.toLowerCase() === subject.toLowerCase(),
    )?.policy ?? visibility.inherit;
  return { policyOf, muted: (channelId: number) => subscriptions.get(channelId)?.isMuted === true };
}

/** The conditions to try, and what each means in terms of the returned messages. */
function termsFor(
  { realm, channels, closed, web, ids }: World,
  messages: readonly Told[],
  as: Person,
  { policyOf, muted }: Awaited<ReturnType<typeof policiesOf>>,
): Term[] {
  const { member, admin, guest } = realm.people;
  const is = (operand: string, test: Test): Term => ({ operator: 'is', operand, test });
  const isMuted: Test = (message) => {
    if (message.stream_id === undefined) return false;
    const policy = policyOf(message);
    return policy === visibility.inherit ? muted(message.stream_id) : policy === visibility.muted;
  };
  const isLink: Test = ({ content }) => content.includes('<a href="');
  const others =
    (id: number): Test =>
    (message) =>
      isDirect(message) && people(message).includes(id);
  const one = ids[0] ?? 1;
  const seen = new Set(messages.flatMap(({ stream_id }) => stream_id ?? []));
  return [
    // A channel without a message that a user can read may be one that they do not know.
    ...channels
      .filter((channel) => seen.has(channel))
      .map(
        (channel): Term => ({
          operator: 'channel',
          operand: channel,
          wants: 'channel',
          test: ({ stream_id }) => stream_id === channel,
        }),
      ),
    ...topics.map(
      (topic): Term => ({
        operator: 'topic',
        operand: topic.toUpperCase(),
        wants: 'channel',
        test: (message) => !isDirect(message) && message.subject.toLowerCase() === topic.toLowerCase(),
      }),
    ),
    {
      operator: 'channels',
      operand: 'public',
      wants: 'channel',
      test: ({ stream_id }) => stream_id !== undefined && !closed.includes(stream_id),
    },
    {
      operator: 'streams',
      operand: 'web-public',
      wants: 'channel',
      test: ({ stream_id }) => stream_id === web,
    },
    { operator: 'channels', operand: 'archived', wants: 'channel', test: () => false },
    { operator: 'dm-including', operand: member.userId, wants: 'direct', test: others(member.userId) },
    {
      operator: 'group-pm-with',
      operand: guest.userId,
      wants: 'direct',
      test: (message) => others(guest.userId)(message) && people(message).length > 2,
    },
    { operator: 'dm', operand: [], wants: 'direct', test: () => false },
    {
      operator: 'dm',
      operand: [admin.userId],
      wants: 'direct',
      test: (message) =>
        isDirect(message) && String(people(message)) === String(uniqueSorted([admin.userId, as.userId])),
    },
    { operator: 'sender', operand: member.userId, test: ({ sender_id }) => sender_id === member.userId },
    {
      operator: 'mentions',
      operand: admin.userId,
      test: ({ content }) => content.includes(`"${admin.userId}">@Adam`),
    },
    { operator: 'id', operand: one, test: ({ id }) => id === one },
    { operator: 'has', operand: 'link', test: isLink },
    { operator: 'has', operand: 'image', test: ({ content }) => content.includes('.png"') },
    { operator: 'has', operand: 'reaction', test: ({ reactions }) => reactions.length > 0 },
    { operator: 'has', operand: 'attachment', test: () => false },
    { operator: 'in', operand: 'home', test: (message) => !isMuted(message) },
    { operator: 'near', operand: one, test: () => true },
    { ...is('dm', isDirect), wants: 'direct' },
    is('unread', (message) => !has('read')(message)),
    is('mentioned', has('mentioned', 'wildcard_mentioned')),
    is('starred', has('starred')),
    is('followed', (message) => !isDirect(message) && policyOf(message) === visibility.followed),
    is('muted', isMuted),
    is('resolved', ({ subject }) => subject.startsWith('✔ ')),
    is('alerted', () => false),
  ];
}

interface Chosen extends Term {
  readonly negated: boolean;
}

/** The result of a narrow, computed from all messages that a user may read; undefined if its conditions conflict. */
function expected(
  messages: readonly Told[],
  terms: readonly Chosen[],
  isGuest: boolean,
): number[] | undefined {
  const isDm = ({ operator, operand }: Chosen): boolean => operator === 'is' && operand === 'dm';
  const wants = terms.map((term) => {
    if (term.negated) return isDm(term) ? 'channel' : undefined;
    return term.wants;
  });
  if (wants.includes('channel') && wants.includes('direct')) return undefined;
  const showsHistory =
    terms.every(({ operator, operand }) => operator !== 'is' || operand === 'resolved') &&
    terms.some(
      ({ operator, operand, negated }) =>
        !negated && (operator === 'channel' || (operator === 'channels' && operand === 'public' && !isGuest)),
    );
  const isPlain = ({ operator }: Chosen): boolean => operator === 'near';
  return messages
    .filter((message) => showsHistory || isReceived(message))
    .filter((message) => terms.every((term) => isPlain(term) || term.test(message) !== term.negated))
    .map(({ id }) => id);
}

const narrowOf = (terms: readonly Chosen[]) =>
  terms.map(({ operator, operand, negated }) => ({ operator, operand, negated }));

async function idsFor(realm: TestRealm, as: Person, narrow: unknown) {
  const { status, body } = await fetched(realm, as, { narrow, num_before: 200 });
  return status === 200 ? body.messages.map(({ id }: Told) => id) : body.code;
}

describe('narrows against an oracle (companion facts 1.14)', () => {
  it('find exactly the matching messages that each user may read, in fetches, changes of flags and matches_narrow', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.infiniteStream(fc.nat()), async (all, random) => {
        const world = await given(all);
        const { realm, ids } = world;
        await givenMutedChannel(realm, realm.people.admin, realm.channels.random);
        const next = (most: number): number => (random.next().value ?? 0) % most;
        for (const as of [realm.people.admin, realm.people.member, realm.people.guest]) {
          const messages = await readable(world, as);
          const terms = termsFor(world, messages, as, await policiesOf(world, as));
          for (let i = 0; i < 25; i++) {
            const chosen = Array.from({ length: 1 + next(3) }, (): Chosen => {
              const term = terms[next(terms.length)] as Term;
              return { ...term, negated: next(3) === 0 };
            });
            const narrow = narrowOf(chosen);
            const isGuest = as === realm.people.guest;
            const wanted = expected(messages, chosen, isGuest);
            const what = JSON.stringify([as.email, narrow]);
            expect(await idsFor(realm, as, narrow), what).toEqual(wanted ?? 'BAD_NARROW');
            if (wanted === undefined) continue;
            const received = new Set(messages.filter(isReceived).map(({ id }) => id));
            const query = { msg_ids: ids, narrow };
            const { body: matching } = await realm.call(matches, as, {}, { query });
            const all = expected(messages.filter(isReceived), chosen, isGuest) ?? [];
            expect(Object.keys(matching.messages).map(Number), what).toEqual(
              all.filter((id) => received.has(id)),
            );
            const marking = {
              anchor: 'oldest',
              num_before: 0,
              num_after: 200,
              op: 'remove',
              flag: 'starred',
            };
            const { body: marked } = await realm.call(markNarrow, as, { ...marking, narrow });
            expect([marked.processed_count, marked.first_processed_id], what).toEqual([
              wanted.length,
              wanted[0] ?? null,
            ]);
          }
        }
      }),
      { numRuns: 2, endOnFailure: true },
    );
  }, 240_000);
});
