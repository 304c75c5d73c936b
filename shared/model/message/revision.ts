import { indexKeys } from '../../log/commit.ts';
import type { Message, MessageHead, MessageText, Revision } from '../../log/message.ts';
import type { EventEntry, MessageSlot, Payload } from '../../log/slot.ts';
import type { Rendered } from '../../markdown/render.ts';
import { key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import { toHead } from './load.ts';
import { audienceOf, locationAfter, mentionsIn, messageKey, unchanged, unmoved } from './message.ts';
import type { OpenTo } from './object.ts';

/** New content of a message. */
export interface Rewrite {
  readonly content: string;
  readonly rendered: Rendered;
  /** Undefined if the message held no files and holds none now. */
  readonly files?: FileChange;
}

/** What new content changes of the files that a message holds. */
export interface FileChange {
  /** The files that it holds then, and those that it does not hold any more, by their path. */
  readonly after: readonly string[];
  readonly released: readonly string[];
  /** Writes of other items, by the log number and the time (ms) of the edit, and their events. */
  readonly writes: (number: number, now: number) => readonly Write[];
  readonly entries: readonly EventEntry[];
}

/** The destination of a move: a topic in the same or another channel. */
export interface Relocation {
  readonly channelId: number;
  readonly topic: string;
  /** It only marks the topic as resolved or unresolved, which does not count as a move (wire facts 14.4). */
  readonly isResolution: boolean;
  /** Who could read the former channel (`openTo` of a `Revision`). */
  readonly openTo?: OpenTo;
}

/** The content of a message before an edit, if the message does not keep it. */
export interface Edit extends MessageText {
  readonly seq: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    edit: Edit;
  }
}

/** Revisions that a message keeps. Older ones are dropped. */
const MAX_REMEMBERED = 100;

/**
 * Limits of the earlier texts that a message keeps, so that a fetch needs no further read. Each edit writes them again,
 * and each fetch reads them. The newest text has a larger limit, with which the message still fits into an item (400 KB).
 */
const KEPT_TEXTS = 10;
const KEPT_BYTES = 4_096;
const NEWEST_BYTES = 100_000;

export interface Revising {
  /** The log number of its event. */
  readonly seq: number;
  readonly userId: number;
  /** Milliseconds. */
  readonly now: number;
  readonly rewrite?: Rewrite | undefined;
  readonly relocation?: Relocation | undefined;
}

/** Edits or moves a message and adds a revision. Fails if the message has changed. */
export function doRevise(realm: string, message: MessageSlot, revising: Revising): Write[] {
  const { seq, userId, now, rewrite, relocation } = revising;
  const timestamp = Math.floor(now / 1000);
  const revision: Revision = {
    seq,
    userId,
    timestamp,
    ...(rewrite && { content: true, before: { content: message.content, rendered: message.rendered } }),
    ...(relocation && placesOf(message, relocation)),
  };
  const { history, put } = withRoom([revision, ...(message.history ?? [])].slice(0, MAX_REMEMBERED));
  const mentions = rewrite && mentionsIn(rewrite.rendered, message.channelId !== undefined);
  const files = rewrite?.files;
  const removed = [
    ...(rewrite && !mentions ? ['mentions'] : []),
    ...(files?.after.length === 0 ? ['files'] : []),
  ];
  return [
    {
      update: messageKey(realm, message.id),
      change: {
        set: {
          revision: seq,
          history,
          ...(rewrite && {
            content: rewrite.content,
            rendered: rewrite.rendered.html,
            isMe: rewrite.rendered.isMe,
            edited: timestamp,
          }),
          ...(mentions && { mentions }),
          ...(files && files.after.length > 0 && { files: files.after }),
          ...(relocation && relocated(realm, message, relocation)),
          ...(relocation && !relocation.isResolution && { moved: timestamp }),
        },
        ...(removed.length > 0 && { remove: removed }),
      },
      when: unchanged(message),
      lastWriterWins: true,
    },
    ...put.map(
      (edit): Write => ({
        put: key('edit', { realm, messageId: message.id, seq: edit.seq }),
        item: { ...edit },
      }),
    ),
    ...(files?.writes(seq, now) ?? []),
  ];
}

/** Limits the texts in a history, newest first. `put` has the others, which become items. */
function withRoom(history: readonly Revision[]): { history: Revision[]; put: Edit[] } {
  let [texts, bytes] = [0, 0];
  const put: Edit[] = [];
  const kept = history.map(({ before, ...revision }): Revision => {
    if (before === undefined) return revision;
    texts += 1;
    bytes += Buffer.byteLength(before.content) + Buffer.byteLength(before.rendered);
    const most = texts === 1 ? NEWEST_BYTES : KEPT_BYTES;
    if (texts <= KEPT_TEXTS && bytes <= most) return { ...revision, before };
    put.push({ seq: revision.seq, ...before });
    return revision;
  });
  return { history: kept, put };
}

/** A move without an edit. */
interface MovingHead extends Omit<Revising, 'rewrite' | 'relocation'> {
  readonly relocation: Relocation;
  /** The message must not be older than this, seconds since 1970. */
  readonly notBefore?: number | undefined;
}

/**
 * Moves a message whose text was not read. Fails if it has moved, or has so many revisions that one must be dropped, which
 * needs the whole message.
 */
export function doRelocate(realm: string, head: MessageHead, moving: MovingHead): Write {
  const { seq, userId, now, relocation, notBefore } = moving;
  const timestamp = Math.floor(now / 1000);
  const revision: Revision = { seq, userId, timestamp, ...placesOf(head, relocation) };
  return {
    update: messageKey(realm, head.id),
    change: {
      set: {
        revision: seq,
        ...relocated(realm, head, relocation),
        ...(!relocation.isResolution && { moved: timestamp }),
      },
      prepend: { history: [revision] },
    },
    when: {
      equals: { ...unmoved(head).equals, topic: head.topic },
      shorter: { history: MAX_REMEMBERED },
      ...(notBefore !== undefined && { above: { timestamp: notBefore - 1 } }),
    },
    lastWriterWins: true,
  };
}

function placesOf(
  { channelId = 0, topic = '' }: MessageHead,
  to: Relocation,
): Pick<Revision, 'topic' | 'channel'> {
  return {
    ...(topic !== to.topic && { topic: { from: topic, to: to.topic } }),
    ...(channelId !== to.channelId && {
      channel: { from: channelId, to: to.channelId, ...(to.openTo && { openTo: to.openTo }) },
    }),
  };
}

function relocated(realm: string, head: MessageHead, relocation: Relocation) {
  const location = locationAfter(head, relocation);
  return { ...location, recipientId: relocation.channelId, ...indexKeys(realm, head.id, location) };
}

/** The changes of an update. */
export interface Updated {
  readonly userId: number;
  /** Milliseconds. */
  readonly now: number;
  readonly rewrite?: Rewrite | undefined;
  readonly relocation?: Relocation | undefined;
  readonly mode?: 'change_one' | 'change_later' | 'change_all';
  /** Name of the channel before the move. */
  readonly channelName?: string | undefined;
}

/**
 * The `update_message` event of an edit, a move, or both. `messages` have their state before it, in rising order. `main` is
 * the one whose content and flags are in the event.
 */
export function updateEvent(
  main: MessageHead & Partial<Pick<Message, 'content' | 'rendered'>>,
  messages: readonly MessageHead[],
  { userId, now, rewrite, relocation, mode, channelName }: Updated,
): EventEntry {
  const { channelId, topic = '' } = main;
  // Users who may read the newest message may learn the ids of the others.
  const newest = messages.at(-1) ?? main;
  const hearers = audienceOf(newest);
  const leaves = relocation !== undefined && relocation.channelId !== channelId;
  return {
    kind: 'event',
    hearers: leaves && 'channel' in hearers ? { ...hearers, movedTo: relocation.channelId } : hearers,
    about: aboutOf(main, rewrite, relocation),
    payload: {
      type: 'update_message',
      user_id: userId,
      edit_timestamp: Math.floor(now / 1000),
      message_id: main.id,
      message_ids: messages.map(({ id }) => id),
      rendering_only: false,
      ...(channelId !== undefined && { stream_id: channelId, stream_name: channelName }),
      ...(rewrite && {
        orig_content: main.content,
        orig_rendered_content: main.rendered,
        content: rewrite.content,
        rendered_content: rewrite.rendered.html,
        is_me_message: rewrite.rendered.isMe,
      }),
      ...(relocation && {
        propagate_mode: mode,
        orig_subject: topic,
        ...(topic !== relocation.topic && { subject: relocation.topic }),
        ...(leaves && { new_stream_id: relocation.channelId }),
      }),
    },
  };
}

/**
 * The move event for users who could not read the former channel: without its name, and with the new topic as the former
 * one. Clients need some topic there, and the channel's id to recognize a move.
 */
export function withoutFormerLocation({
  stream_name: _,
  subject,
  topic_links: __,
  ...payload
}: Payload): Payload {
  return { ...payload, ...(subject !== undefined && { orig_subject: subject }) };
}

/** The fields of the updated message that flags need. */
function aboutOf(
  message: MessageHead,
  rewrite: Rewrite | undefined,
  relocation: Relocation | undefined,
): MessageHead {
  const { mentions: before, ...head } = toHead(message);
  const mentions = rewrite ? mentionsIn(rewrite.rendered, head.channelId !== undefined) : before;
  const place = relocation && locationAfter(message, relocation);
  return { ...head, ...place, ...(mentions && { mentions }) };
}
