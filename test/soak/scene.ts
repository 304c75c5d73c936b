import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemGroups } from '../../shared/model/permission/permission.ts';
import type { Person } from '../support/realm.ts';
import type { Claims } from './claims.ts';
import { Client, type Tally } from './client.ts';
import { type Random, randomOf } from './random-choice.ts';

export interface Channel {
  readonly name: string;
  readonly channelId: number;
}

/** A message whose send was acknowledged. */
export interface Known {
  readonly id: number;
  readonly sender: number;
  /** Its content as it was sent. */
  readonly content: string;
  /** Everybody who sees it, if it is a direct message. */
  readonly people?: readonly number[];
  /** Where it was sent to, if that is a channel. */
  readonly place?: string;
}

/** A user with a program. */
export interface Cast {
  readonly name: string;
  readonly client: Client;
  readonly userId: number;
  readonly random: Random;
}

/** A user who writes, with the queue of their program. */
export interface Writer extends Cast {
  readonly queueId: string;
  /** How many things they have done. */
  count: number;
}

/** The organization of a soak: who is there, and where they write. */
export interface Scene {
  readonly seed: number;
  readonly claims: Claims;
  /** They write, and their programs get the events. */
  readonly writers: readonly Cast[];
  /** They only read, and see all public channels and the vault from beginning to end. */
  readonly watchers: readonly Cast[];
  /** Creates accounts, and changes what only administrators may. */
  readonly admin: Cast;
  /** Channels that everybody may read and write to; nobody leaves the first. */
  readonly open: readonly Channel[];
  /** The channel that writers leave and join. */
  readonly club: Channel;
  /** A private channel of the watchers, the administrator and the first two writers. */
  readonly vault: Channel;
  /** A group whose members come and go. */
  readonly groupId: number;
  /** The messages that writers know of. */
  readonly messages: Known[];
  /** What writers found wrong. */
  readonly wrong: string[];
}

/** A person whose program has a name. */
function cast(given: Given, name: string, person: Person): Cast {
  const random = randomOf(given.seed, name);
  const client = new Client(given.address, person, given.tally, randomOf(given.seed, `${name}'s client`));
  return { name, client, userId: person.userId, random };
}

export interface Given {
  readonly seed: number;
  readonly address: string;
  readonly folder: string;
  readonly tally: Tally;
  readonly claims: Claims;
}

/** Fills the demo organization, before the faults start. */
export async function setScene(given: Given): Promise<Scene> {
  const demo = async (name: string): Promise<Cast> => {
    const text = readFileSync(join(given.folder, 'zuliprc', `${name}.zuliprc`), 'utf8');
    const read = (field: string) => new RegExp(`^${field}=(.+)$`, 'm').exec(text)?.[1] ?? '';
    const person = { email: read('email'), apiKey: read('key'), userId: 0 };
    const { user_id } = await cast(given, name, person).client.must({ method: 'GET', path: 'users/me' });
    return cast(given, name, { ...person, userId: user_id });
  };
  const [admin, moderator, member] = [await demo('admin'), await demo('moderator'), await demo('member')];
  const create = async (name: string): Promise<Cast> => {
    const email = `${name}@example.com`;
    const parameters = { email, full_name: `Soak ${name}` };
    const { user_id, api_key } = await admin.client.must({ method: 'POST', path: 'users', parameters });
    return cast(given, name, { email, apiKey: api_key, userId: user_id });
  };
  const writers = [await create('rose'), await create('iris'), moderator, member];
  const watchers = [await create('alice'), await create('bob')];
  const everybody = [admin, ...writers, ...watchers];
  const channel = async (name: string, people: readonly Cast[], more: object = {}): Promise<Channel> => {
    const principals = people.map(({ userId }) => userId);
    const subscriptions = [{ name }];
    const parameters = { subscriptions, principals, send_new_subscription_messages: false, ...more };
    await admin.client.must({ method: 'POST', path: 'users/me/subscriptions', parameters });
    const { stream_id } = await admin.client.must({
      method: 'GET',
      path: 'get_stream_id',
      parameters: { stream: name },
    });
    return { name, channelId: stream_id };
  };
  const club = await channel('club', everybody);
  const open = [await channel('general', everybody), await channel('garden', everybody), club];
  const inside = [admin, ...watchers, ...writers.slice(0, 2)];
  const secret = { invite_only: true, history_public_to_subscribers: false };
  const vault = await channel('vault', inside, secret);
  const group = await admin.client.must({
    method: 'POST',
    path: 'user_groups/create',
    parameters: { name: 'soakers', description: '', members: [], can_manage_group: systemGroups.members.id },
  });
  const { seed, claims } = given;
  const groupId: number = group.group_id;
  return { seed, claims, writers, watchers, admin, open, club, vault, groupId, messages: [], wrong: [] };
}
