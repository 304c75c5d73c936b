import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import { uniqueSorted } from '../../lists.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { accessContent, loadChannel } from '../../model/channel/access.ts';
import { checkContent, checkTopic, normalizedContent } from '../../model/message/message.ts';
import { accessRecipients } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import { settingsOf } from '../../model/user/user.ts';
import { type ItemOf, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import type { Write } from '../../table/write.ts';
import { checkSize } from '../send/request.ts';

/** Where a draft goes: nowhere yet, to people, or to one channel. These are the words of the wire and of the table. */
export type DraftType = '' | 'private' | 'stream';

/** A draft as a request gives it (companion facts 2.1). */
export interface DraftParameter {
  readonly type: DraftType;
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  readonly timestamp?: number | undefined;
}

/** A message that a user has not sent yet, as stored (companion facts 2.1). */
export interface MessageDraft {
  readonly draftId: number;
  readonly type: DraftType;
  /** One channel, or people; never the user, except in a note to self. */
  readonly to: readonly number[];
  /** Empty unless it goes to a channel. */
  readonly topic: string;
  readonly content: string;
  /** When it was last changed, by the client's clock, in seconds since 1970. */
  readonly timestamp: number;
}

/** How many drafts a user has. */
interface DraftCount {
  readonly count: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    draft: MessageDraft;
    draftCount: DraftCount;
  }
}

/**
 * Most drafts of one user (docs/LIMITS.md). One transaction can delete all of them, when the user turns their
 * synchronization off.
 */
export const MAX_DRAFTS = 80;

/** A parsed draft. */
type ParsedDraft = Omit<MessageDraft, 'draftId' | 'timestamp'> & { readonly timestamp: number | undefined };

/**
 * Parses a draft.
 *
 * @throws Refusal `BAD_REQUEST`
 */
export function parseDraft({ type, to, topic, content, timestamp }: DraftParameter): ParsedDraft {
  const text = normalizedContent(content);
  checkContent(text);
  return {
    type,
    to: parsePlaces(type, to),
    topic: type === 'stream' ? checkTopic(topic) : '',
    content: text,
    timestamp: timestamp === undefined ? undefined : Math.floor(timestamp),
  };
}

function parsePlaces(type: DraftType, to: readonly number[]): readonly number[] {
  if (type === '') return [];
  if (type === 'stream' && to.length !== 1)
    throw badRequest('A draft to a channel needs exactly one channel.');
  checkSize(to.length);
  return uniqueSorted(to);
}

/** The draft as it is stored. `now` is in milliseconds. */
function stored(draftId: number, draft: ParsedDraft, userId: number, now: number): MessageDraft {
  const others = draft.type === 'private' ? draft.to.filter((id) => id !== userId) : draft.to;
  return {
    draftId,
    ...draft,
    to: others.length === 0 ? draft.to : others,
    timestamp: draft.timestamp ?? Math.floor(now / 1000),
  };
}

/** All drafts of a user, the one that was changed last first. One round trip. */
export async function loadDrafts(table: Table, realm: string, userId: number): Promise<MessageDraft[]> {
  const drafts = await table.all('draft', { realm, userId });
  return drafts.sort((a, b) => b.timestamp - a.timestamp || b.draftId - a.draftId);
}

/** The settings of a user as stored, which say whether drafts are synchronized. */
type Synchronization = ItemOf<'settings'> | undefined;

/** A draft of a user and whether drafts are synchronized. One round trip. */
export async function loadDraft(table: Table, realm: string, userId: number, draftId: number) {
  const [settings, draft] = await Promise.all([
    table.get('settings', { realm, userId }),
    isId(draftId) ? table.get('draft', { realm, userId, draftId }) : undefined,
  ]);
  return { settings, draft };
}

/** What decides whether drafts may be saved: the setting, and the places they go to. One round trip. */
export async function loadDraftPlaces(
  table: Table,
  realm: string,
  userId: number,
  drafts: readonly ParsedDraft[],
) {
  const idsOf = (type: DraftType) =>
    uniqueSorted(drafts.flatMap((draft) => (draft.type === type ? draft.to : [])));
  const [settings, channels, people] = await Promise.all([
    table.get('settings', { realm, userId }),
    Promise.all(idsOf('stream').map((channelId) => loadChannel(table, realm, channelId, userId))),
    table.getMany(
      idsOf('private')
        .filter(isId)
        .map((id) => key('user', { realm, userId: id })),
    ),
  ]);
  return { settings, channels, people };
}

type DraftPlaces = Awaited<ReturnType<typeof loadDraftPlaces>>;

/** Refuses every request about drafts of a user who has turned their synchronization off. */
export function checkSynchronization(settings: Synchronization): void {
  if (settingsOf(settings).enable_drafts_synchronization !== true)
    throw badRequest('You have turned off the synchronization of drafts.');
}

/** The draft. An unknown one and another user's are 404 alike. */
export function accessDraft({ settings, draft }: Awaited<ReturnType<typeof loadDraft>>): MessageDraft {
  checkSynchronization(settings);
  if (draft === undefined) throw refusal('draftDoesNotExist');
  return draft;
}

/** Refuses drafts to a channel that the caller cannot read, or to people who do not exist or are hidden from the caller. */
export async function accessDraftPlaces(
  outside: Outside,
  caller: Caller,
  drafts: readonly ParsedDraft[],
  { settings, channels, people }: DraftPlaces,
): Promise<void> {
  checkSynchronization(settings);
  for (const seen of channels) accessContent(caller.standing, seen);
  const recipients = drafts.flatMap(({ type, to }) => (type === 'private' ? to : []));
  await accessRecipients(outside, caller, recipients, people);
}

/** A draft on the wire. */
export const draftObject = ({ draftId, type, to, topic, content, timestamp }: MessageDraft) => ({
  id: draftId,
  type,
  to: [...to],
  topic,
  content,
  timestamp,
});

const draftEvent = (userId: number, op: string, fields: object): EventEntry =>
  eventFor({ users: [userId] }, { type: 'drafts', op, ...fields });

/** Holds a change of drafts to the setting it was decided by: turning it off at the same moment deletes all drafts. */
const stillSynchronized = (realm: string, userId: number, settings: Synchronization): Write => ({
  check: key('settings', { realm, userId }),
  when: { equals: { enable_drafts_synchronization: settings?.enable_drafts_synchronization } },
});

/** Counts so many drafts more, or fewer. The condition refuses what a user has no room for. */
const doCountDrafts = (realm: string, userId: number, more: number): Write => ({
  update: key('draftCount', { realm, userId }),
  change: { add: { count: more } },
  ...(more > 0 && { when: { below: { count: MAX_DRAFTS - more + 1 } } }),
});

/** Refuses so many drafts more for a user who has so many. */
export function checkRoomForDrafts(counted: DraftCount | undefined, more: number): void {
  if ((counted?.count ?? 0) + more > MAX_DRAFTS)
    throw badRequest(`There is room for ${MAX_DRAFTS} drafts: delete some of them first.`);
}

/** Saves drafts, each with the number of its event as its ID. `now` is in milliseconds. */
export function doSaveDrafts(
  { realmId: realm, user: { userId } }: Caller,
  drafts: readonly ParsedDraft[],
  settings: Synchronization,
  numbers: readonly number[],
  now: number,
): Change<{ ids: number[] }> {
  const saved = drafts.map((draft, i) => stored(numbers[i] as number, draft, userId, now));
  return {
    writes: [
      ...saved.map(
        (draft): Write => ({
          put: key('draft', { realm, userId, draftId: draft.draftId }),
          item: { ...draft },
        }),
      ),
      doCountDrafts(realm, userId, saved.length),
      stillSynchronized(realm, userId, settings),
    ],
    entries: saved.map((draft) => draftEvent(userId, 'add', { drafts: [draftObject(draft)] })),
    result: { ids: saved.map(({ draftId }) => draftId) },
  };
}

/** Replaces a draft as a whole. Fails if it was deleted. `now` is in milliseconds. */
export function doReplaceDraft(
  { realmId: realm, user: { userId } }: Caller,
  draftId: number,
  replacement: ParsedDraft,
  now: number,
): Change<void> {
  const draft = stored(draftId, replacement, userId, now);
  return {
    writes: [
      {
        put: key('draft', { realm, userId, draftId }),
        item: { ...draft },
        when: { absent: false },
        lastWriterWins: true,
      },
    ],
    entries: [draftEvent(userId, 'update', { draft: draftObject(draft) })],
    result: undefined,
  };
}

/** Deletes a draft. */
export const doDeleteDraft = (realm: string, userId: number, draftId: number): Change<void> => ({
  writes: [
    { delete: key('draft', { realm, userId, draftId }), when: { absent: false } },
    doCountDrafts(realm, userId, -1),
  ],
  entries: [draftEvent(userId, 'remove', { draft_id: draftId })],
  result: undefined,
});

/** How many drafts a user has. One round trip. */
export const loadDraftCount = (
  table: Table,
  realm: string,
  userId: number,
): Promise<DraftCount | undefined> => table.get('draftCount', { realm, userId });

/** All drafts of a user and their count, to delete them. One round trip. */
export async function loadAllDrafts(table: Table, realm: string, userId: number) {
  const [drafts, counted] = await Promise.all([
    table.all('draft', { realm, userId }),
    loadDraftCount(table, realm, userId),
  ]);
  return { drafts, counted };
}

/**
 * Deletes all drafts of a user, without an event, with the change of settings that turns their synchronization off
 * (companion facts 2.1). Fails if there are others by now.
 */
export const doDeleteDrafts = (
  realm: string,
  userId: number,
  { drafts, counted }: Awaited<ReturnType<typeof loadAllDrafts>>,
): Write[] => [
  ...drafts.map(({ draftId }): Write => ({ delete: key('draft', { realm, userId, draftId }) })),
  {
    update: key('draftCount', { realm, userId }),
    change: { set: { count: 0 } },
    when: { equals: { count: counted?.count } },
  },
];
