import { badRequest, refusal } from '../../kernel/errors.ts';
import type { LookupKey, Resolved } from '../../kernel/lookup.ts';
import { isId } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { checkTopic } from '../../model/message/message.ts';
import { topicKey } from '../../model/message/topic.ts';
import type { Table } from '../../table/table.ts';
import { editedContent, loadRewrite, type RewriteSnapshot } from '../edit/rewrite.ts';
import { referenceLookupKeys } from '../mention/references.ts';
import { messageLookupKeys } from '../reader/target.ts';
import { isResolution, loadTargetChannel, type TargetChannel } from './check.ts';
import type { Move, StepSnapshot } from './move.ts';
import type { SeenTopic } from './rest.ts';
import { STEP } from './step.ts';
import { loadAlone, loadTogether } from './together.ts';

/** The parameters of an update (specification 4.1). */
interface UpdateParameters {
  readonly message_id: number;
  readonly content?: string | undefined;
  readonly topic?: string | undefined;
  readonly stream_id?: number | undefined;
  readonly propagate_mode?: Move['mode'] | undefined;
  readonly prev_content_sha256?: string | undefined;
  readonly send_notification_to_old_thread?: boolean | undefined;
  readonly send_notification_to_new_thread?: boolean | undefined;
}

/** The parsed parameters of an update. */
export interface AskedUpdate {
  readonly messageId: number;
  readonly content?: string;
  /** The names in the new content. */
  readonly names: References;
  readonly topic?: string;
  readonly channelId?: number;
  readonly mode: Move['mode'];
  /** SHA-256 of the content that the caller edited. */
  readonly expected: string | undefined;
  /** Whether to post notices in the old and the new topic. */
  readonly inOld: boolean;
  readonly inNew: boolean;
}

/** Parses the parameters of an update. Throws `BAD_REQUEST` if they are invalid for every message. */
export function parseUpdate(given: UpdateParameters): AskedUpdate {
  const content = given.content === undefined ? undefined : editedContent(given.content);
  const asked: AskedUpdate = {
    messageId: given.message_id,
    ...(content !== undefined && { content }),
    names: extractReferences(content ?? ''),
    ...(given.topic !== undefined && { topic: checkTopic(given.topic) }),
    ...(given.stream_id !== undefined && { channelId: given.stream_id }),
    mode: given.propagate_mode ?? 'change_one',
    expected: given.prev_content_sha256,
    inOld: given.send_notification_to_old_thread ?? false,
    inNew: given.send_notification_to_new_thread ?? true,
  };
  checkUpdate(asked);
  return asked;
}

/** The message, and the names in its new content. */
export const updateLookupKeys = ({ messageId, names }: AskedUpdate): LookupKey[] => [
  ...messageLookupKeys(messageId),
  ...referenceLookupKeys(names),
];

/**
 * How many log numbers an update usually takes at most: one for its event; for a move also one for the notice; for a
 * move between channels also one for each message that leaves and those for the unread flags and the oldest messages.
 * Messages that move together with it share one more event.
 */
export function numbersOfUpdate({ topic, channelId, mode, inNew }: AskedUpdate): number {
  const leaves = channelId !== undefined;
  const moves = topic !== undefined || leaves;
  const others = mode === 'change_one' ? 0 : STEP - 1;
  return 1 + (leaves ? 5 + others : 0) + (moves && others > 0 ? 1 : 0) + (moves && inNew ? 1 : 0);
}

/**
 * Checks the parameters by themselves and, once it is known, for this message. A move to where the message already is
 * changes nothing.
 */
export function checkUpdate(asked: AskedUpdate, message?: MessageSlot): void {
  const { content, topic, channelId, mode } = asked;
  const moves = topic !== undefined || channelId !== undefined;
  if (content === undefined && !moves) throw badRequest('There is nothing to change.');
  if (mode !== 'change_one' && !moves) {
    throw badRequest("'propagate_mode' goes with a 'topic' or a 'stream_id'.");
  }
  if (channelId !== undefined && content !== undefined) {
    throw badRequest('The content cannot change while the message moves to another channel.');
  }
  if (channelId !== undefined && !isId(channelId)) throw refusal('invalidChannelId');
  if (message === undefined) return;
  if (message.channelId === undefined && moves) {
    throw badRequest('Direct messages have no topic and cannot be moved.');
  }
  if (content === undefined && relocationOf(message, asked) === undefined) {
    throw badRequest('There is nothing to change.');
  }
}

/** Where the message moves to; undefined if it stays. */
function relocationOf(message: MessageSlot, asked: AskedUpdate): Move['to'] | undefined {
  const { channelId, topic = '' } = message;
  if (channelId === undefined) return undefined;
  const to = { channelId: asked.channelId ?? channelId, topic: asked.topic ?? topic };
  if (to.channelId === channelId && to.topic === topic) return undefined;
  return { ...to, isResolution: to.channelId === channelId && isResolution(topic, to.topic) };
}

/** A move of the message, with the snapshot of its step. */
export interface Relocating {
  readonly to: Move['to'];
  readonly target: TargetChannel;
  readonly snapshot: StepSnapshot;
  /** The other messages that may move; undefined if they are too many for one step. */
  readonly others: readonly MessageHead[] | undefined;
  /** The oldest of the other messages, as the index shows them. */
  readonly oldest: readonly MessageHead[];
  /** The oldest message of the source topic. */
  readonly first: number;
}

/** What an update needs besides the message. */
export interface UpdateSnapshot {
  readonly rewriting: RewriteSnapshot | undefined;
  readonly standing: SeenTopic | undefined;
  readonly relocating: Relocating | undefined;
}

/** Reads it. One round trip. */
export async function loadUpdate(
  outside: Outside,
  resolved: Resolved,
  who: { readonly userId: number; readonly ownerId?: number },
  asked: AskedUpdate,
  message: MessageSlot,
): Promise<UpdateSnapshot> {
  const { realm } = resolved;
  const { content, names } = asked;
  const [rewriting, standing, relocating] = await Promise.all([
    content === undefined ? undefined : loadRewrite(outside, resolved, who.userId, message, names),
    loadStanding(outside.table, realm, message, asked),
    loadRelocating(outside, realm, message, asked, who),
  ]);
  return { rewriting, standing, relocating };
}

/**
 * The topic of a message that the request moves to where it already is: an earlier move may be taking it away. Undefined
 * for all others. One round trip.
 */
async function loadStanding(
  table: Table,
  realm: string,
  message: MessageSlot,
  asked: AskedUpdate,
): Promise<SeenTopic | undefined> {
  const { channelId, topic = '' } = message;
  const moves = asked.topic !== undefined || asked.channelId !== undefined;
  if (!moves || channelId === undefined || relocationOf(message, asked) !== undefined) return undefined;
  const seen = await table.get(topicKey(realm, { channelId, topic }));
  return { channelId, topic, seen };
}

/** Undefined if the message stays. One round trip. */
async function loadRelocating(
  outside: Pick<Outside, 'table' | 'now' | 'cache'>,
  realm: string,
  message: MessageSlot,
  asked: AskedUpdate,
  who: { readonly userId: number; readonly ownerId?: number },
): Promise<Relocating | undefined> {
  const to = relocationOf(message, asked);
  if (to === undefined || message.channelId === undefined) return undefined;
  const from = { channelId: message.channelId, topic: message.topic ?? '' };
  const { mode } = asked;
  const { table } = outside;
  const [target, together] = await Promise.all([
    loadTargetChannel(table, realm, to.channelId, who),
    mode === 'change_one'
      ? loadAlone(outside, realm, { from, to }, message)
      : loadTogether(outside, realm, { from, to, mode }, message),
  ]);
  return { to, target, ...together };
}
