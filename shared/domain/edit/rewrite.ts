import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Resolved } from '../../kernel/lookup.ts';
import type { Outside, Queues } from '../../kernel/outside.ts';
import { digestOf } from '../../kernel/text.ts';
import type { Commit } from '../../log/bulk.ts';
import type { EventEntry, MessageSlot } from '../../log/slot.ts';
import type { References } from '../../markdown/references.ts';
import { type Rendered, render } from '../../markdown/render.ts';
import type { ChannelCount } from '../../model/channel/channel.ts';
import { normalizedContent } from '../../model/message/message.ts';
import { doRevise, type Rewrite, updateEvent } from '../../model/message/revision.ts';
import { type Topic, topicKey } from '../../model/message/topic.ts';
import { doSetVisibility, visibility } from '../../model/message/user-topic.ts';
import { hiddenUsers } from '../../model/subscription/user-access.ts';
import type { Caller } from '../../model/user/caller.ts';
import type { Write } from '../../table/write.ts';
import { filesAfterEdit, releaseJob, tokenOf } from '../files/claim.ts';
import { attachmentObject, type StoredFile } from '../files/file.ts';
import { fetchableFiles, filesIn, type LinkedFiles, type Linker, loadLinkedFiles } from '../files/link.ts';
import { shownImages } from '../files/preview.ts';
import {
  checkGroupMentions,
  checkWildcards,
  followersOf,
  type LoadedReferences,
  loadForWriter,
  loadMentionable,
  loadReferences,
  type Mentionable,
  mentionableUserIds,
  resolveReferences,
} from '../mention/references.ts';
import { wakeOutbox } from '../outbox/outbox.ts';
import type { Target } from '../reader/target.ts';

/** The content of a message that was edited to be empty, as in the reference. */
const DELETED = '(deleted)';

/** Edited content as it is stored. Unlike a new message, it may be empty. */
export const editedContent = (content: string): string => normalizedContent(content) || DELETED;

/** What the check of new content needs. */
export interface RewriteSnapshot {
  readonly named: LoadedReferences;
  readonly mentionable: readonly Mentionable[];
  readonly count: ChannelCount | undefined;
  readonly topic: Topic | undefined;
  /** The files that it may link to, and those that the message holds. */
  readonly linked: LinkedFiles;
}

/** Reads it. One round trip; two if it links to files of others. */
export async function loadRewrite(
  outside: Outside,
  resolved: Resolved,
  linker: Linker,
  { channelId, topic = '', files = [] }: MessageSlot,
  names: References,
  tokens: readonly string[],
): Promise<RewriteSnapshot> {
  const { table } = outside;
  const { realm } = resolved;
  const both = [...new Set([...tokens, ...files.map(tokenOf)])];
  const reading = Promise.all([
    loadReferences(outside, resolved, names, linker.userId, linker.baseUrl),
    loadLinkedFiles(outside, realm, linker, both),
  ]);
  if (channelId === undefined) {
    const [named, linked] = await reading;
    return { named, linked, mentionable: [], count: undefined, topic: undefined };
  }
  const [[named, linked], mentionable, count, stored] = await Promise.all([
    reading,
    loadMentionable(outside, realm, channelId, topic, mentionableUserIds(names, resolved)),
    table.get('channelCount', { realm, channelId }),
    table.get(topicKey(realm, { channelId, topic })),
  ]);
  return { named, linked, mentionable, count, topic: stored };
}

/**
 * Refuses a caller who may not change the content of the message: only its sender may, while the organization allows it.
 * `now` is in milliseconds, `leeway` in seconds.
 */
export function checkMayRewrite(
  { user, realm: { settings } }: Caller,
  message: MessageSlot,
  now: number,
  leeway: number,
): void {
  if (!settings.allow_message_editing) throw badRequest('Messages cannot be edited in this organization.');
  if (message.senderId !== user.userId)
    throw badRequest('Only its sender can edit the content of a message.');
  const limit = settings.message_content_edit_limit_seconds;
  if (limit !== null && now / 1000 - message.timestamp > limit + leeway) {
    throw badRequest('The time in which this message could be edited is over.');
  }
}

/** Decides whether the caller may change the content that they saw. */
export function checkRewriting(
  caller: Caller,
  message: MessageSlot,
  expected: string | undefined,
  now: number,
): void {
  checkMayRewrite(caller, message, now, LEEWAY);
  if (expected !== undefined && expected !== digestOf(message.content)) {
    throw refusal('contentMismatch');
  }
}

/** The new content, rendered and checked, with what it changes of the files of the message. */
export async function acceptRewrite(
  outside: Outside,
  caller: Caller,
  content: string,
  message: MessageSlot,
  snapshot: RewriteSnapshot,
): Promise<Rewriting> {
  const open = await openFiles(caller, message, snapshot.linked);
  const images = shownImages(caller, snapshot.linked, open);
  const rendered = await checkRewrite(outside, caller, content, message, snapshot, images);
  const linked = filesIn(rendered.links, snapshot.linked, open);
  const files = filesAfterEdit(caller.realmId, message, linked);
  return { snapshot, rewrite: { content, rendered, ...(files && { files }) } };
}

/** Renders the new content and checks its mentions. */
async function checkRewrite(
  outside: Outside,
  caller: Caller,
  content: string,
  message: MessageSlot,
  snapshot: RewriteSnapshot,
  images: LoadedReferences['images'],
): Promise<Rendered> {
  const hidden = await hiddenUsers(outside, caller, [...snapshot.named.users.values()]);
  const named = await loadForWriter(outside, caller, snapshot.named, hidden, images);
  const rendered = render(content, resolveReferences(caller.standing, named));
  if (message.channelId !== undefined) {
    const { count, topic } = snapshot;
    const [subscribers, participants] = [count?.subscribers ?? 0, topic?.participants ?? 0];
    checkWildcards(caller, rendered, { subscribers, participants });
  }
  checkGroupMentions(caller, named.groups, rendered.mentionedGroupIds);
  return rendered;
}

/** The files that new content may hold: those that the message holds, and others that the caller may get. */
async function openFiles(
  { standing }: Caller,
  { files = [] }: MessageSlot,
  linked: LinkedFiles,
): Promise<StoredFile[]> {
  const kept = linked.found.map(({ file }) => file).filter(({ pathId }) => files.includes(pathId));
  const open = await fetchableFiles(standing, linked);
  return [...new Set([...kept, ...open])];
}

/**
 * Wakes the worker that releases files, if the edit removed some. Returns those of the sender that no message holds any
 * more, for the reply (companion facts 1.3).
 */
export async function detachFiles(
  outside: Pick<Outside, 'report' | 'count' | 'wait'>,
  queues: Queues,
  { realmId }: Caller,
  { id, senderId }: MessageSlot,
  rewriting: Rewriting | undefined,
) {
  const { snapshot, rewrite } = rewriting ?? {};
  if (!snapshot || !rewrite?.files?.released.length) return [];
  await wakeOutbox(outside, queues, releaseJob(realmId, id));
  const { released } = rewrite.files;
  return snapshot.linked.found
    .map(({ file }) => file)
    .filter(({ pathId, ownerId }) => ownerId === senderId && released.includes(pathId))
    .filter(({ messageIds = [] }) => [...messageIds].every((each) => each === id))
    .map((file) => attachmentObject({ ...file, messageIds: new Set() }));
}

/** New content that has passed all checks. */
export interface Rewriting {
  readonly rewrite: Rewrite;
  readonly snapshot: RewriteSnapshot;
}

/** Changes the content of a message, in one transaction. */
export async function rewriteMessage(
  { caller, commit, now }: { readonly caller: Caller; readonly commit: Commit; readonly now: number },
  { message, seen }: Target,
  { rewrite, snapshot }: Rewriting,
): Promise<void> {
  const { realmId: realm, user } = caller;
  const { userId } = user;
  const followers = doFollow(realm, message, rewrite, snapshot, now);
  const channelName = seen?.channel.name;
  const event = updateEvent(message, [message], { userId, now, rewrite, channelName });
  const before = [...followers.entries, ...(rewrite.files?.entries ?? [])];
  await commit(before.length + 1, (numbers) => ({
    writes: [
      ...doRevise(realm, message, { seq: numbers.at(-1) as number, userId, now, rewrite }),
      ...followers.writes,
    ],
    entries: [...before, event],
    result: undefined,
  }));
}

/** Users who are newly mentioned follow the topic, if their settings say so (wire facts 3.10). */
function doFollow(
  realm: string,
  { channelId, topic = '', mentions }: MessageSlot,
  { rendered }: Rewrite,
  { mentionable, named }: RewriteSnapshot,
  now: number,
): { readonly writes: readonly Write[]; readonly entries: readonly EventEntry[] } {
  if (channelId === undefined) return { writes: [], entries: [] };
  const mentioned = rendered.mentionedUserIds.filter((id) => mentions?.users?.includes(id) !== true);
  const changes = followersOf(mentionable, mentioned, named.users).map(({ userId, seen }) => {
    const policy = { channelId, topic, policy: visibility.followed, updated: Math.floor(now / 1000) };
    return doSetVisibility(realm, userId, policy, seen);
  });
  return {
    writes: changes.flatMap(({ writes }) => writes),
    entries: changes.flatMap(({ entries }) => entries),
  };
}

/** Seconds that a request may arrive after a time limit, as in the reference. */
export const LEEWAY = 20;
