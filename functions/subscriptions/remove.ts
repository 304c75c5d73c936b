import { checkPairs } from '../../shared/domain/subscribe/subscribe-check.ts';
import {
  type Ground,
  knownChannelIds,
  loadChannelIds,
  loadGround,
} from '../../shared/domain/subscribe/subscription-ground.ts';
import { unsubscribePeople } from '../../shared/domain/subscribe/unsubscribe-people.ts';
import type { InputOf, ReplyOf } from '../../shared/endpoints/endpoint.ts';
import { removeSubscriptions } from '../../shared/endpoints/subscriptions.ts';
import { folded } from '../../shared/kernel/folding.ts';
import type { LookupKey } from '../../shared/kernel/lookup.ts';
import { MOST_AT_ONCE } from '../../shared/log/bulk.ts';
import { checkChannelName } from '../../shared/model/channel/channel.ts';
import { hiddenUsers } from '../../shared/model/subscription/user-access.ts';
import { directGroups } from '../../shared/model/user/caller.ts';
import { principalIds, principalLookupKeys } from '../../shared/model/user/principals.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';

type Remove = InputOf<typeof removeSubscriptions>;

/** What a request reads, in one round trip. */
interface Loaded {
  readonly ground: Ground;
  /** Person -> named groups, which tell who loses sight of a channel. */
  readonly groups: ReadonlyMap<number, readonly number[]>;
}

/** The names of the channels, each once. */
const checkNames = ({ subscriptions }: Remove): string[] => [
  ...new Map(subscriptions.map(checkChannelName).map((name) => [folded(name), name])).values(),
];

function pointers(input: Remove): LookupKey[] {
  const names = checkNames(input);
  checkPairs(names.length, input.principals?.length ?? 1);
  return [
    ...names.map((name): LookupKey<'channelName'> => ({ kind: 'channelName', name })),
    ...principalLookupKeys(input.principals),
  ];
}

async function load({ input, realm, userId, resolved, outside }: UnverifiedRequest<Remove>): Promise<Loaded> {
  const people = principalIds(input.principals, resolved, userId);
  const others = people.filter((id) => id !== userId);
  const [ground, groups] = await Promise.all([
    loadGround(outside.table, realm, userId, knownChannelIds(checkNames(input), resolved), people),
    Promise.all(others.map((id) => directGroups(outside, realm, id))),
  ]);
  return { ground, groups: new Map(others.map((id, i) => [id, groups[i] ?? []])) };
}

/**
 * What the subscriber hears, what their clients forget, and for each channel the news for the others; for each of the
 * first transactions, where people leave one channel.
 */
function ahead({ subscriptions, principals }: Remove): number[] {
  const steps = subscriptions.length > 1 ? 1 : Math.ceil((principals?.length ?? 1) / PEOPLE_IN_ONE);
  const numbers = Math.min(subscriptions.length + 2, MOST_AHEAD);
  return Array<number>(Math.max(1, Math.min(steps, MOST_AT_ONCE))).fill(numbers);
}

/** How many people one transaction takes out of a channel. */
const PEOPLE_IN_ONE = 32;

/** More numbers than one transaction of this kind usually has events. */
const MOST_AHEAD = 26;

async function run(context: Request<Remove>, loaded: Loaded): Promise<ReplyOf<typeof removeSubscriptions>> {
  const { input, caller, outside, realm, userId, resolved } = context;
  const names = checkNames(input);
  const { principals } = input;
  const people = principalIds(principals, resolved, userId);
  // Whom the caller may not know is nobody; only for guests anything is read.
  const hidden = await hiddenUsers(outside, caller, [...loaded.ground.users.values()]);
  const visible = (ground: Ground): Ground => ({
    ...ground,
    users: new Map([...ground.users].filter(([id]) => !hidden.has(id))),
  });
  const stage = {
    wait: outside.wait,
    now: outside.now,
    reload: async () => {
      const ids = await loadChannelIds(outside.table, realm, names);
      return visible(await loadGround(outside.table, realm, userId, ids, people));
    },
  };
  const request = { names, principals, resolved, groups: loaded.groups, now: outside.now() };
  const { removed, notRemoved } = await unsubscribePeople(
    stage,
    caller,
    context.commit,
    request,
    visible(loaded.ground),
  );
  return { removed: [...removed], not_removed: [...notRemoved] };
}

export const handler = serve(removeSubscriptions, { keys: pointers, load, reserve: ahead, run });
