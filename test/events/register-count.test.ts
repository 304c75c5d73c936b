import { expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { QueryCommand } from '../../shared/table/commands.ts';
import { partition } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { givenClient } from '../support/event-queue.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm } from '../support/realm.ts';

it('the count of subscribers in a registration fits its list, even if a user subscribes between the two reads', async () => {
  const realm = await newRealm();
  const { admin, member, moderator } = realm.people;
  const { channelId, name } = await givenChannel(realm, {}, [admin, member]);
  const lists = partition('subscriber', { realm: realm.realm, channelId });
  const counts = partition('channelCount', { realm: realm.realm });
  const listed = Promise.withResolvers<void>();
  let joining: Promise<unknown> | undefined;
  const between =
    (send: Send): Send =>
    async (command) => {
      const values = command instanceof QueryCommand ? command.input.ExpressionAttributeValues : undefined;
      const about = Object.values(values ?? {});
      if (about.includes(lists)) {
        const answer = await send(command);
        listed.resolve();
        return answer;
      }
      if (about.includes(counts)) {
        await listed.promise;
        joining ??= realm.call(subscribe, moderator, { subscriptions: [{ name }] });
        await joining;
      }
      return send(command);
    };
  const parameters = { fetch_event_types: ['subscription', 'stream'], include_subscribers: 'true' };
  const { state } = await givenClient(realm.container(between), member, parameters);
  const isIt = (channel: { stream_id: number }): boolean => channel.stream_id === channelId;
  const own = state.subscriptions.find(isIt);
  expect(own.subscribers).toEqual([admin.userId, member.userId].sort((a, b) => a - b));
  expect([own.subscriber_count, state.streams.find(isIt).subscriber_count]).toEqual([2, 2]);
});
