import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedHint } from '../../shared/domain/fetch/feed-hint.ts';
import { Reader } from '../../shared/domain/reader/reader.ts';
import { directConversation } from '../../shared/model/message/message.ts';
import { visibility } from '../../shared/model/message/user-topic.ts';
import { key } from '../../shared/table/keys.ts';
import { givenChannel, givenUserTopic } from '../support/given.ts';
import { move } from '../support/message-update.ts';
import { fetched, flagged, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

/** A message as the reader gets it, which is the input of the oracle. */
interface Told {
  readonly id: number;
  readonly sender_id: number;
  readonly stream_id?: number;
  readonly subject: string;
  readonly display_recipient: string | readonly { readonly id: number }[];
  readonly flags: readonly string[];
}

const BEHIND_ALL = 10_000_000_000_000_000;

/** An organization in which many things were said, read, starred and moved, and all that one reader may read of it. */
async function world() {
  const realm = await newRealm();
  const { member, admin, owner, guest } = realm.people;
  const { general, random } = realm.channels;
  const { channelId: secret } = await givenChannel(realm, { isPrivate: true }, [member, owner]);
  const ids: number[] = [];
  const contents = ['text', '@**Adam Admin**', '@**all**', '@**topic**', 'text'];
  const circles = [[admin], [admin, owner], [member, admin, guest], [owner], [guest]];
  for (let i = 0; i < 110; i++) {
    const content = contents[(i * 7) % 5];
    const as = [member, owner, admin, member][(i * 5) % 4] ?? member;
    const people = circles[i % 5] ?? [admin];
    const to = [general, random, secret][(i * 3) % 7] ?? general;
    const topic = ['tea', 'lunch', '✔ tea', ''][(i * 11) % 4] ?? 'tea';
    const hidden = as === admin && to === secret;
    ids.push(await sent(realm, as, i % 3 === 0 ? { people } : { to: hidden ? general : to, topic }, content));
  }
  const some = (step: number, from: number): number[] => ids.filter((_, i) => i % step === from);
  const mark = (op: 'add' | 'remove', flag: string, list: readonly number[]) =>
    flagged(realm, admin, op, flag, list);
  await mark('add', 'read', [...some(2, 0), ...ids.slice(0, 9)]);
  const { body } = await fetched(realm, admin, { message_ids: ids });
  const readable: Told[] = body.messages;
  const each = (step: number, from: number): number[] =>
    readable.filter((_, i) => i % step === from).map(({ id }) => id);
  await mark('remove', 'read', each(7, 2));
  await mark('add', 'starred', each(5, 0));
  await givenUserTopic(realm, admin, general, 'tea', visibility.followed);
  const inGeneral = readable.filter(({ stream_id }) => stream_id === general);
  for (const { id } of inGeneral.filter((_, i) => i % 6 === 0))
    expect((await move(realm, owner, id, { topic: 'moved' })).status).toBe(200);
  for (const { id } of inGeneral.filter((_, i) => i % 9 === 1))
    expect((await move(realm, owner, id, { stream_id: random })).status).toBe(200);
  const all = await fetched(realm, admin, { message_ids: ids, allow_empty_topic_name: true });
  return { realm, ids, messages: all.body.messages as Told[], secret };
}

const shared = world();

type Test = (message: Told) => boolean;

/** Narrows, and what each means in terms of the returned messages. */
async function narrows(): Promise<readonly { readonly narrow: unknown[]; readonly test: Test }[]> {
  const { realm } = await shared;
  const { admin, member, owner } = realm.people;
  const { general, random } = realm.channels;
  const people = ({ display_recipient: told }: Told): number[] =>
    typeof told === 'string' ? [] : told.map(({ id }) => id);
  const has =
    (flag: string): Test =>
    ({ flags }) =>
      flags.includes(flag);
  const isMentioned: Test = (message) => has('mentioned')(message) || has('wildcard_mentioned')(message);
  const policies = await new Reader(realm.outside, realm.realm, admin.userId).topicPolicies();
  const followed = policies.filter(({ policy }) => policy === visibility.followed);
  const isFollowed: Test = ({ stream_id, subject }) =>
    followed.some(({ channelId, topic }) => channelId === stream_id && topic === subject);
  const isIn =
    (channel: number): Test =>
    (message) =>
      message.stream_id === channel;
  const isOf =
    (topic: string): Test =>
    (message) =>
      message.stream_id !== undefined && message.subject === topic;
  const isDirect: Test = ({ stream_id }) => stream_id === undefined;
  const both =
    (...tests: readonly Test[]): Test =>
    (message) =>
      tests.every((test) => test(message));
  const pair = directConversation([admin.userId, owner.userId]);
  return [
    { narrow: [], test: () => true },
    { narrow: [['channel', general]], test: isIn(general) },
    {
      narrow: [
        ['channel', random],
        ['topic', 'tea'],
      ],
      test: both(isIn(random), isOf('tea')),
    },
    { narrow: [['topic', 'tea']], test: isOf('tea') },
    { narrow: [['topic', 'moved']], test: isOf('moved') },
    { narrow: [['topic', '']], test: isOf('') },
    { narrow: [['is', 'dm']], test: isDirect },
    { narrow: [['dm', [owner.userId]]], test: (message) => directConversation(people(message)) === pair },
    {
      narrow: [['dm-including', [member.userId]]],
      test: (message) => people(message).includes(member.userId),
    },
    { narrow: [['sender', owner.userId]], test: ({ sender_id }) => sender_id === owner.userId },
    {
      narrow: [
        ['sender', member.userId],
        ['channel', general],
      ],
      test: both(isIn(general), ({ sender_id }) => sender_id === member.userId),
    },
    { narrow: [['is', 'unread']], test: (message) => !has('read')(message) },
    {
      narrow: [
        ['is', 'unread'],
        ['channel', random],
      ],
      test: both(isIn(random), (message) => !has('read')(message)),
    },
    {
      narrow: [
        ['is', 'unread'],
        ['is', 'dm'],
      ],
      test: both(isDirect, (message) => !has('read')(message)),
    },
    { narrow: [{ operator: 'is', operand: 'unread', negated: true }], test: has('read') },
    { narrow: [['is', 'starred']], test: has('starred') },
    {
      narrow: [
        ['is', 'starred'],
        ['topic', 'tea'],
      ],
      test: both(has('starred'), isOf('tea')),
    },
    {
      narrow: [
        ['is', 'starred'],
        ['is', 'unread'],
      ],
      test: both(has('starred'), (message) => !has('read')(message)),
    },
    {
      narrow: [
        { operator: 'is', operand: 'starred', negated: true },
        { operator: 'channel', operand: general },
      ],
      test: both(isIn(general), (message) => !has('starred')(message)),
    },
    { narrow: [['is', 'mentioned']], test: isMentioned },
    {
      narrow: [
        ['is', 'mentioned'],
        ['channel', general],
      ],
      test: both(isIn(general), isMentioned),
    },
    { narrow: [['is', 'followed']], test: isFollowed },
    { narrow: [['is', 'resolved']], test: isOf('✔ tea') },
  ];
}

interface Window {
  readonly anchor: string;
  readonly before: number;
  readonly after: number;
}

/** What a fetch must find, worked out from all that the reader may read. */
function expected(messages: readonly Told[], test: Test, { anchor, before, after }: Window) {
  const wanted = messages.filter(test);
  const at = (): number => {
    if (anchor === 'newest') return BEHIND_ALL;
    if (anchor === 'oldest') return 0;
    if (anchor !== 'first_unread') return Number(anchor);
    return wanted.find(({ flags }) => !flags.includes('read'))?.id ?? BEHIND_ALL;
  };
  const place = at();
  const below = wanted.filter(({ id }) => id < place);
  const above = wanted.filter(({ id }) => id > place);
  const own = wanted.filter(({ id }) => id === place);
  return {
    anchor: place,
    found_anchor: own.length === 1,
    ids: [...(before > 0 ? below.slice(-before) : []), ...own, ...above.slice(0, after)].map(({ id }) => id),
  };
}

describe('GET /messages against an oracle', () => {
  it('finds exactly the stored messages, whatever feed hint is stored', async () => {
    const { realm, ids, messages, secret } = await shared;
    const { admin, member, owner, guest } = realm.people;
    const { general, random } = realm.channels;
    const at = key('places', { realm: realm.realm, email: admin.email });
    const circles = [[admin, member], [admin, owner], [admin], [owner, member], [admin, member, guest]];
    const places = fc.record<FeedHint>({
      channels: fc.subarray([general, random, secret, 999_999]),
      dialogues: fc.subarray(
        circles.map((people) => people.map(({ userId }) => userId).sort((a, b) => a - b)),
      ),
      isSparse: fc.boolean(),
      firstUnread: fc.constantFrom(...ids),
    });
    const all = await narrows();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...all),
        fc.constantFrom('newest', 'oldest', 'first_unread', 'first_unread', ...ids.slice(0, 60).map(String)),
        fc.nat({ max: 12 }),
        fc.nat({ max: 12 }),
        fc.option(places, { nil: undefined }),
        async ({ narrow, test }, anchor, before, after, hint) => {
          if (hint) await realm.outside.table.put(at, { ...hint });
          else await realm.outside.table.transact([{ delete: at }], realm.outside.uuid());
          const query = { narrow, anchor, num_before: before, num_after: after };
          const { body } = await fetched(realm.container(), admin, query);
          const { found_anchor, messages: found } = body;
          const told = found.map(({ id }: Told) => id);
          expect({ anchor: body.anchor, found_anchor, ids: told }).toEqual(
            expected(messages, test, { anchor, before, after }),
          );
          expect(body.history_limited).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });
});
