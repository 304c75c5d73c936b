import { expect, test } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { picture } from '../support/pictures.ts';
import { type Answered, properRequests, speaksOf, told, twinsIn } from './twins.ts';
import { newSide } from './world.ts';

/** How many requests each endpoint gets about each thing; without it, one by one caller. `npm run fuzz` sends more. */
const REQUESTS = process.env.FUZZ_TWINS === undefined ? undefined : Number(process.env.FUZZ_TWINS);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** So many requests that each kind of thing that an endpoint accepts is in one: a parameter may be in few of them. */
const ENOUGH = 400;

/**
 * What tells hidden things from missing ones all the same, by the parameter that does. A name can belong to one channel
 * only, so a caller who gives it to another channel hears that it is taken. A caller who sends to a channel, now or
 * later, hears that it is not theirs (wire facts 3.5, step 11), and no more than they said
 * (`test/messages/send-posting.test.ts`).
 */
const TOLD_ANYWAY: Readonly<Record<string, string>> = {
  'subscriptions.add channelName': 'subscriptions',
  'subscriptions.change channelName': 'add',
  'channels.create channelName': 'name',
  'channels.update channelName': 'new_name',
  'messages.send channelName': 'to',
  'messages.send channelId': 'to',
  'scheduledMessages.create channelId': 'to',
  'scheduledMessages.update channelId': 'to',
};

const isSame = (one: Answered, other: Answered): boolean =>
  one.status === other.status && (one.status === 200 || one.text === other.text);

test(
  `hidden things are refused in exactly the same words as missing ones (seed ${SEED})`,
  async () => {
    const side = await newSide();
    const twins = await twinsIn(side);
    const image = await picture('png', 20, 20);
    const differences: string[] = [];
    const compared = new Map<string, number>();
    for (const [place, endpoint] of endpoints.entries()) {
      const requests = properRequests(endpoint, SEED + place, ENOUGH * (REQUESTS ?? 1));
      for (const { pool, what, hidden, missing, from } of twins) {
        const name = `${endpoint.id} ${pool}`;
        const drafts = requests
          .filter(({ fields }) => {
            const telling = fields.filter(([parameter]) => parameter === TOLD_ANYWAY[name]);
            return speaksOf(fields, pool) && !speaksOf(telling, pool);
          })
          .slice(0, REQUESTS ?? 1);
        const callers = REQUESTS === undefined ? from.slice(SEED % from.length).slice(0, 1) : from;
        for (const draft of drafts) {
          for (const caller of callers) {
            const ask = (value: string | number) =>
              told(side, side.realm.people[caller], draft, pool, value, image);
            const pair = async () => [await ask(hidden), await ask(missing)] as const;
            let [one, other] = await pair();
            // What the first pair changed is the same for both requests of the second one.
            if (!isSame(one, other)) [one, other] = await pair();
            compared.set(name, (compared.get(name) ?? 0) + 1);
            const where = `${name} by ${caller}, ${what}\n  ${JSON.stringify(draft.fields)}`;
            for (const { fault } of [one, other]) if (fault) differences.push(`${where}\n  ${fault}`);
            if (isSame(one, other)) continue;
            differences.push(
              [where, ...[one, other].map(({ status, text }) => `${status} ${text}`)].join('\n  '),
            );
          }
        }
      }
    }
    if (REQUESTS) console.log([...compared].map((line) => line.join(': ')).join('\n'));
    expect(differences).toEqual([]);
    // Whatever has an id among its parameters was asked about it.
    const ids = /^(stream|message|device|queue)_id$/;
    const asked = new Set([...compared.keys()].map((name) => name.split(' ')[0]));
    const silent = endpoints.filter(
      ({ id, parameters }) => Object.keys(parameters).some((name) => ids.test(name)) && !asked.has(id),
    );
    expect(silent.map(({ id }) => id)).toEqual([]);
  },
  // Few requests take no longer than other tests, whose limit depends on the engine (`test/conformance`).
  REQUESTS === undefined ? undefined : 60_000 + REQUESTS * 240_000,
);
