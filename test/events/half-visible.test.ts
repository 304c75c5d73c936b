import {
  BatchGetCommand,
  type BatchGetCommandOutput,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { handler as register } from '../../functions/events/register.ts';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { handler as unsubscribe } from '../../functions/subscriptions/remove.ts';
import { SETTLE } from '../../shared/log/run.ts';
import { type Key, key } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenChannel } from '../given.ts';
import { newRealm } from '../realm.ts';
import { TABLE } from '../store.ts';
import { givenClient, said, sendTo, virtualTime } from './queue.ts';

/*
 * DynamoDB shows a transaction to batches and queries item by item. Here one item stays as it was, as long as that
 * may last, while the log already tells of the change.
 */

/** Shows one item as it was, until the curtain is lifted. */
function curtain(hidden: Key, before: Record<string, unknown> | undefined) {
  const state = { isLifted: false };
  const isHidden = (item: Record<string, unknown>): boolean => item.pk === hidden.pk && item.sk === hidden.sk;
  const faults =
    (send: Send): Send =>
    async (command) => {
      const answer = await send(command);
      if (state.isLifted) return answer;
      if (command instanceof BatchGetCommand) {
        const output = answer as BatchGetCommandOutput;
        const keys = command.input.RequestItems?.[TABLE]?.Keys ?? [];
        const others = (output.Responses?.[TABLE] ?? []).filter((item) => !isHidden(item));
        const shown = before && keys.some(isHidden) ? [...others, before] : others;
        return { ...output, Responses: { [TABLE]: shown } };
      }
      if (command instanceof QueryCommand) {
        const output = answer as QueryCommandOutput;
        return { ...output, Items: output.Items?.filter((item) => !isHidden(item)) };
      }
      return answer;
    };
  /** Time that passes by waiting, and lifts the curtain at the last moment. */
  const time = virtualTime(async (passed) => {
    if (passed >= SETTLE - 1) state.isLifted = true;
  });
  return { faults, time };
}

async function scene() {
  const realm = await newRealm();
  const { admin, member } = realm.people;
  const { channelId, name } = await givenChannel(realm, {}, [admin]);
  const client = await givenClient(realm, member, { event_types: ['message'] });
  const subscription = key('subscription', { realm: realm.realm, userId: member.userId, channelId });
  return { realm, admin, member, channelId, name, client, subscription };
}

describe('while only a part of a transaction can be seen', () => {
  it('nobody misses what was said after they were let in', async () => {
    const { realm, admin, member, channelId, name, client, subscription } = await scene();
    const { faults, time } = curtain(subscription, undefined);
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    await sendTo(realm, admin, channelId, 'welcome');
    expect(said(await client.poll({}, realm.container(faults, time)))).toEqual(['welcome']);
  });

  it('nobody hears what was said after they had left', async () => {
    const { realm, admin, member, channelId, name, client, subscription } = await scene();
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    const before = await realm.outside.table.get(subscription);
    const { faults, time } = curtain(subscription, before);
    await realm.call(unsubscribe, member, { subscriptions: [name] });
    await sendTo(realm, admin, channelId, 'at last we are alone');
    expect(await client.poll({}, realm.container(faults, time))).toEqual([]);
    expect(time.passed()).toBeGreaterThan(0);
  });

  it('a registration waits, so that its state has what its events do not tell', async () => {
    const { realm, member, channelId, name } = await scene();
    const hidden = key('subscriber', { realm: realm.realm, channelId, userId: member.userId });
    const { faults, time } = curtain(hidden, undefined);
    await realm.call(subscribe, member, { subscriptions: [{ name }] });
    const types = { event_types: ['subscription'], include_subscribers: true };
    const { body } = await realm.container(faults, time).call(register, member, types);
    const joined = body.subscriptions.find(({ stream_id }: { stream_id: number }) => stream_id === channelId);
    expect(joined.subscribers).toContain(member.userId);
  });
});
