import { expect, it } from 'vitest';
import { handler as subscribe } from '../../functions/subscriptions/add.ts';
import { eventKind } from '../../shared/openapi/event-shapes.ts';
import { partition } from '../../shared/table/keys.ts';
import type { Send } from '../../shared/table/table.ts';
import { applying, kinds } from '../support/client-state/applied.ts';
import { knownFrom } from '../support/client-state/known.ts';
import { givenClient } from '../support/event-queue.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/** Something happens once, after a registration has fixed its cursor and before it reads any channel. */
function afterCursor({ realm }: TestRealm, act: () => Promise<unknown>): (send: Send) => Send {
  const slots = partition('slot', { realm });
  const lists = [partition('channel', { realm }), partition('listVersions', { realm })];
  let isFixed = false;
  let done: Promise<unknown> | undefined;
  return (send) => async (command) => {
    const asked = JSON.stringify(command);
    if (isFixed && lists.some((pk) => asked.includes(`"${pk}"`))) {
      done ??= act();
      await done;
    }
    const answer = await send(command);
    if (asked.includes(`"${slots}"`)) isFixed = true;
    return answer;
  };
}

it.each(['modern', 'plain'] as const)(
  'a channel that is created between the cursor of a registration and its state has the right count, for a %s client',
  async (kind) => {
    const realm = await newRealm();
    const { moderator, member } = realm.people;
    const parameters = { ...kinds[kind].parameters, fetch_event_types: null };
    const name = 'just created';
    const create = () => realm.call(subscribe, moderator, { subscriptions: [{ name }] });
    const client = await givenClient(realm.container(afterCursor(realm, create)), member, parameters);
    const isNew = (channel: { readonly name: string }): boolean => channel.name === name;
    // Otherwise the registration would not have the channel yet.
    expect(client.state.never_subscribed.filter(isNew)).toMatchObject([{ subscriber_count: 1 }]);
    const known = knownFrom(client.state, kinds[kind]);
    const events = await client.poll();
    expect(events.map(eventKind)).toEqual(expect.arrayContaining(['stream/create', 'subscription/peer_add']));
    for (const event of events) applying[eventKind(event)]?.(known, event);
    const again = await givenClient(realm, member, parameters);
    expect(known.state.never_subscribed.find(isNew)).toEqual(again.state.never_subscribed.find(isNew));
  },
);
