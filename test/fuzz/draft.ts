import fc from 'fast-check';

/** The password of one person in each organization. */
export const PASSWORD = 'twelve grey herons';

/** Lists of what the caller has: devices, files, messages that they reacted to with a smile, and so on. */
export const ownPools = [
  'ownDeviceId',
  'ownFileId',
  'smiledId',
  'ownDraftId',
  'ownSnippetId',
  'ownScheduledId',
  'ownReminderId',
  'ownMutedId',
  'ownKeyId',
] as const;

/** Lists of what there is in an organization, from which a request takes. */
export const poolNames = [
  'userId',
  'botId',
  'email',
  'passwordEmail',
  'fullName',
  'channelId',
  // The two channels that all callers are in.
  'homeId',
  'channelName',
  'topic',
  'messageId',
  'eventId',
  'groupId',
  'groupName',
  'folderId',
  'fieldId',
  'emojiName',
  'emojiId',
  'queueId',
  'deviceId',
  'domain',
  'file',
  'realmId',
  'exportId',
  'callState',
  'folderOrder',
  'pollId',
  'fileLink',
  // The parts of the address of one file have the same place in these, as those of one temporary address have.
  'fileShard',
  'fileToken',
  'fileName',
  'linkSecret',
  'linkName',
  'linkifierId',
  'linkifierOrder',
  'playgroundId',
  'defaultGroupId',
  'inviteId',
  'joinLinkId',
  ...ownPools,
] as const;

export type OwnPool = (typeof ownPools)[number];
export type PoolName = (typeof poolNames)[number];
export type Pools = Readonly<Record<PoolName, readonly (string | number | readonly number[])[]>>;

/** Something of a pool, said before it is known what will be in it. */
export class Pick {
  readonly pool: PoolName;
  readonly place: number;
  /** Out of another organization's pool. */
  readonly foreign: boolean;

  constructor(pool: PoolName, place: number, foreign: boolean) {
    this.pool = pool;
    this.place = place;
    this.foreign = foreign;
  }
}

/** A JSON value in which picks stand for what is not known yet. */
export type Draft =
  | string
  | number
  | boolean
  | null
  | undefined
  | Pick
  | readonly Draft[]
  | { readonly [name: string]: Draft };

/** One out of twenty is another organization's. */
export const pick = (pool: PoolName): fc.Arbitrary<Draft> =>
  fc.tuple(fc.nat(10_000), fc.nat(19)).map(([place, chance]) => new Pick(pool, place, chance === 0));

/** The value, with what the picks stand for at this moment. */
export function resolved(draft: Draft, own: Pools, foreign: Pools): unknown {
  if (draft instanceof Pick) {
    const pool = (draft.foreign ? foreign : own)[draft.pool];
    return pool[draft.place % pool.length] ?? 0;
  }
  if (Array.isArray(draft)) return draft.map((part) => resolved(part, own, foreign));
  if (typeof draft !== 'object' || draft === null) return draft;
  // Not by assignment: a field may be named `__proto__`.
  return Object.fromEntries(
    Object.entries(draft).map(([name, part]) => [name, resolved(part, own, foreign)]),
  );
}

/** How a value travels: text as it is, everything else as JSON text. */
export const travelling = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
