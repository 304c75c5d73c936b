import type { Outside } from '../../kernel/outside.ts';
import { carryOutUnchanged } from '../../log/carry-out.ts';
import { retryOnConflict } from '../../log/commit.ts';
import type { EventEntry, MessageSlot } from '../../log/slot.ts';
import { messageKey, unchanged } from '../../model/message/message.ts';
import type { FileChange } from '../../model/message/revision.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { doLeaveJob, type Job } from '../outbox/outbox.ts';
import { attachmentEvent } from './event.ts';
import type { StoredFile } from './file.ts';
import { doNoteUnused } from './unused.ts';

/**
 * Most messages that can hold one file. A message beyond that links to the file without holding it. The item of the file
 * lists all of them, and is written whole each time.
 */
export const MAX_HOLDERS = 1_000;

/** A message stopped holding files: one entry for each file that it held. */
export interface ReleaseTask {
  readonly released: readonly { readonly messageId: number; readonly token: string }[];
}

declare module '../outbox/outbox.ts' {
  interface Tasks {
    files: ReleaseTask;
  }
}

/** The files that a message can still hold. */
export const withRoom = (files: readonly StoredFile[]): StoredFile[] =>
  files.filter(({ messageIds }) => (messageIds?.size ?? 0) < MAX_HOLDERS);

/** Makes a message hold these files. Fails if one of them has gone. */
export const doClaimFiles = (
  realm: string,
  messageId: number,
  channelId: number | undefined,
  files: readonly StoredFile[],
): Write[] =>
  files.map(({ token }) => ({
    update: key('file', { realm, token }),
    change: {
      add: {
        messageIds: new Set([messageId]),
        ...(channelId !== undefined && { channelIds: new Set([channelId]) }),
      },
    },
    when: { absent: false, shorter: { messageIds: MAX_HOLDERS } },
  }));

/** The events of claims, for the sender of the message (companion facts 1.3). */
export const claimEvents = (senderId: number, files: readonly StoredFile[]): EventEntry[] =>
  files.map((file) => attachmentEvent(senderId, 'update', file));

/** What an edit changes of the files of a message; undefined if it had none and gets none. */
export function filesAfterEdit(
  realm: string,
  { id, channelId, senderId, files: before = [] }: MessageSlot,
  linked: readonly StoredFile[],
): FileChange | undefined {
  const kept = linked.filter(({ pathId }) => before.includes(pathId));
  const claimed = withRoom(linked.filter(({ pathId }) => !before.includes(pathId)));
  const after = [...kept, ...claimed].map(({ pathId }) => pathId);
  if (before.length === 0 && after.length === 0) return undefined;
  const released = before.filter((pathId) => !after.includes(pathId));
  return {
    after,
    released,
    entries: claimEvents(senderId, claimed),
    writes: (number, now) => [
      ...doClaimFiles(realm, id, channelId, claimed),
      ...doReleaseFiles(realm, [{ id, files: released }], number, now),
    ],
  };
}

/** The job that releases the files of this message. */
export const releaseJob = (realm: string, messageId: number): Job<'files'> => ({
  realm,
  kind: 'files',
  job: `${messageId}`,
});

/**
 * Leaves a job to release files. Until it is done they list messages that do not hold them any more, which gives nobody
 * access: the lists of messages decide.
 *
 * @param number the log number of the change
 */
export function doReleaseFiles(
  realm: string,
  messages: readonly { readonly id: number; readonly files?: readonly string[] }[],
  number: number,
  now: number,
): Write[] {
  const released = messages.flatMap(({ id, files = [] }) =>
    files.map((pathId) => ({ messageId: id, token: tokenOf(pathId) })),
  );
  const [first] = released;
  if (first === undefined) return [];
  return [doLeaveJob(releaseJob(realm, first.messageId), number, { released }, now)];
}

/** The token in a path, which a message keeps. */
export const tokenOf = (pathId: string): string => pathId.split('/')[2] ?? '';

/** Takes messages that do not hold a file any more off its list. Idempotent. Two round trips for each. */
export async function releaseFiles(
  outside: Outside,
  realm: string,
  { released }: ReleaseTask,
): Promise<void> {
  for (const { messageId, token } of released) {
    await retryOnConflict(outside, () => releaseFile(outside, realm, messageId, token));
  }
}

async function releaseFile(outside: Outside, realm: string, messageId: number, token: string): Promise<void> {
  const { table, now } = outside;
  const at = key('file', { realm, token });
  const [slot, file] = await Promise.all([table.get(messageKey(realm, messageId)), table.get(at)]);
  if (file?.messageIds?.has(messageId) !== true) return;
  const message = slot?.kind === 'message' ? slot : undefined;
  // It was edited once more, and holds the file again.
  if (message?.files?.includes(file.pathId)) return;
  await carryOutUnchanged(outside, [
    {
      update: at,
      change: { set: { unusedSince: now() }, take: { messageIds: new Set([messageId]) } },
      when: { absent: false },
    },
    doNoteUnused(realm, token, now()),
    ...(message ? [{ check: messageKey(realm, messageId), when: unchanged(message) }] : []),
  ]);
}
