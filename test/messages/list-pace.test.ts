import { describe, expect, it } from 'vitest';
import type { FeedHint } from '../../shared/domain/fetch/feed-hint.ts';
import { commit } from '../../shared/log/commit.ts';
import { eventFor } from '../../shared/log/slot.ts';
import { QueryCommand } from '../../shared/table/commands.ts';
import { key, partition } from '../../shared/table/keys.ts';
import { fetched, sentMany } from '../support/messages.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

const WANTED = 50;

/** A container that notes how many slots each of its reads of the log returns. */
function counting(realm: TestRealm) {
  const log = partition('slot', { realm: realm.realm });
  const slots: number[] = [];
  const container = realm.container((store) => async (command) => {
    const answer = (await store(command)) as { readonly Items?: readonly unknown[] };
    if (command instanceof QueryCommand && command.input.IndexName === undefined) {
      const [pk] = Object.values(command.input.ExpressionAttributeValues ?? {});
      if (pk === log) slots.push(answer.Items?.length ?? 0);
    }
    return answer;
  });
  return { container, slots };
}

/** Writes events that only the owner hears: slots of the log that are no messages. */
async function givenEvents({ log, people: { owner } }: TestRealm, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const event = eventFor({ users: [owner.userId] }, { type: 'drafts', op: 'remove', draft_id: 1 });
    await commit(log, 1, () => ({ writes: [], entries: [event], result: undefined }));
  }
}

/** The ids that a fetch of the newest messages returns. */
async function newest(realm: TestRealm): Promise<readonly number[]> {
  const { status, body } = await fetched(realm, realm.people.admin, { num_before: WANTED, num_after: 0 });
  expect(status).toBe(200);
  return body.messages.map(({ id }: { id: number }) => id);
}

describe('GET /messages: a container that has fetched for somebody', () => {
  it('reads hardly more slots of the log than the last fetch needed', async () => {
    const realm = await newRealm();
    const ids = await sentMany(realm, realm.people.member, { to: realm.channels.general }, 120);
    const { container, slots } = counting(realm);
    for (let i = 0; i < 2; i++) expect(await newest(container)).toEqual(ids.slice(-WANTED));
    const [first = 0, second = 0, ...more] = slots;
    expect(first).toBeGreaterThan(2 * WANTED - 1);
    expect(second).toBeLessThan(1.5 * WANTED);
    expect(more).toEqual([]);
  });

  it('reads on once if they hold too few messages this time, and remembers that', async () => {
    const realm = await newRealm();
    const { member, admin } = realm.people;
    const ids = await sentMany(realm, member, { to: realm.channels.general }, 120);
    const { container, slots } = counting(realm);
    await newest(container);
    await givenEvents(realm, 40);
    slots.length = 0;
    expect(await newest(container)).toEqual(ids.slice(-WANTED));
    expect(slots).toHaveLength(2);
    slots.length = 0;
    expect(await newest(container)).toEqual(ids.slice(-WANTED));
    expect(slots).toHaveLength(1);
    const hint: FeedHint | undefined = await realm.outside.table.get(
      key('places', { realm: realm.realm, email: admin.email }),
    );
    expect(hint).toMatchObject({ isSparse: false });
  });

  it('reads the places of the messages if the log holds far fewer of them', async () => {
    const realm = await newRealm();
    const ids = await sentMany(realm, realm.people.member, { to: realm.channels.general }, 60);
    const { container, slots } = counting(realm);
    await newest(container);
    await givenEvents(realm, 120);
    slots.length = 0;
    for (let i = 0; i < 2; i++) expect(await newest(container)).toEqual(ids.slice(-WANTED));
    expect(slots.slice(0, 2).reduce((sum, count) => sum + count)).toBeGreaterThan(2 * WANTED - 1);
  });
});
