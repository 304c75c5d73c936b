import type { KeyedAccount } from '../../shared/domain/account/operator.ts';
import {
  type Founder,
  GENERAL,
  type NewOrganization,
  planFounding,
} from '../../shared/domain/organization/founding.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { carryOut } from '../../shared/log/carry-out.ts';
import { roles } from '../../shared/model/permission/permission.ts';
import type { Write } from '../../shared/table/write.ts';

/** An account of the demo organization with its key, which is shown once. */
export type DemoAccount = KeyedAccount & { readonly name: DemoName };

const addressOf = (name: string): string => `${name}@example.com`;

const people = [
  { name: 'owner', fullName: 'Olive Owner', role: roles.owner },
  { name: 'admin', fullName: 'Adam Admin', role: roles.administrator },
  { name: 'moderator', fullName: 'Mona Moderator', role: roles.moderator },
  { name: 'member', fullName: 'Max Member', role: roles.member },
  { name: 'guest', fullName: 'Gus Guest', role: roles.guest },
  { name: 'bot', fullName: 'Busy Bot', role: roles.member, ownedBy: addressOf('member') },
] as const;

export type DemoName = (typeof people)[number]['name'];

const random = { name: 'random', description: 'What fits nowhere else.', isDefault: false };

/**
 * Plans a demo organization: one account of each role, a bot, and two channels to which all are subscribed (guests
 * only to the default one). One transaction creates all of it, with what else `create` is given. The keys are made first,
 * so that the caller can store them before. No table is needed until then.
 */
export function planDemo(outside: Pick<Outside, 'now' | 'uuid' | 'randomBytes'>, given: NewOrganization) {
  const founders = people.map(({ name, ...person }): Founder => ({ ...person, email: addressOf(name) }));
  const { realm, accounts, channelIds, writes } = planFounding(outside, given, founders, [GENERAL, random]);
  const [generalId = 0, randomId = 0] = channelIds;
  const demo = {
    realm,
    accounts: people.map(({ name }, i): DemoAccount => ({ ...(accounts[i] as KeyedAccount), name })),
    channels: { general: generalId, random: randomId },
  };
  const create = async (on: Outside, more: readonly Write[] = []): Promise<'created' | 'exists'> =>
    (await carryOut(on, [...writes, ...more])).state === 'done' ? 'created' : 'exists';
  return { demo, create };
}
