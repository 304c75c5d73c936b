import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId } from '../../kernel/id.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageHead } from '../../log/message.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { topicKey } from '../../model/message/topic.ts';
import type { Table } from '../../table/table.ts';
import type { Move, StepGround } from './move.ts';
import { isResolution, loadTargetChannel, type TargetChannel } from './move-check.ts';
import type { SeenTopic } from './move-rest.ts';
import { loadAlone, loadTogether } from './move-together.ts';

/** An update of a message as it was asked for. */
export interface AskedUpdate {
  readonly content?: string;
  readonly topic?: string;
  readonly channelId?: number;
  readonly mode: Move['mode'];
}

/**
 * Decides whether what is asked for makes sense, by itself and, once it is known, for this message. What names the
 * place where the message is already asks for nothing.
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

/** Where the message goes; undefined where it stays. */
function relocationOf(message: MessageSlot, asked: AskedUpdate): Move['to'] | undefined {
  const { channelId, topic = '' } = message;
  if (channelId === undefined) return undefined;
  const to = { channelId: asked.channelId ?? channelId, topic: asked.topic ?? topic };
  if (to.channelId === channelId && to.topic === topic) return undefined;
  return { ...to, isResolution: to.channelId === channelId && isResolution(topic, to.topic) };
}

/** A move of the message, with what it looks at if one step takes all that moves. */
export interface Relocating {
  readonly to: Move['to'];
  readonly target: TargetChannel;
  readonly ground: StepGround;
  /** The messages that may go with it; undefined where they are too many for one step. */
  readonly others: readonly MessageHead[] | undefined;
  /** The oldest of those that may go with it, as the index shows them. */
  readonly oldest: readonly MessageHead[];
  /** The oldest message of the topic that it leaves. */
  readonly first: number;
}

/**
 * The topic of a message that is to move to where it stands, and may be under way from there; undefined for all
 * others. One round trip.
 */
export async function loadStanding(
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

/** Reads it; undefined where the message stays. One round trip. */
export async function loadRelocating(
  outside: Pick<Outside, 'table' | 'now' | 'memory'>,
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
