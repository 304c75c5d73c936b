import { badRequest, refusal } from '../../kernel/errors.ts';
import { isId, type LookupKey, type Resolved } from '../../kernel/lookup.ts';
import type { Outside } from '../../kernel/outside.ts';
import type { MessageSlot } from '../../log/slot.ts';
import { extractReferences, type References } from '../../markdown/references.ts';
import { checkTopic } from '../../model/message/message.ts';
import { topicKey } from '../../model/message/topic.ts';
import { editedContent, loadRewrite, type RewriteSnapshot } from '../edit/rewrite.ts';
import { type Linker, linkedTokens } from '../files/link.ts';
import { referenceLookupKeys } from '../mention/references.ts';
import { messageLookupKeys } from '../reader/target.ts';
import { isResolution, loadTargetChannel } from './check.ts';
import { loadFirstStep, type Relocating } from './move.ts';
import type { SeenTopic } from './rest.ts';
import { type Move, STEP } from './step.ts';

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
  /** The tokens of the files that it may link to. */
  readonly files: readonly string[];
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
    files: linkedTokens(content ?? ''),
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

const asksToMove = ({ topic, channelId }: AskedUpdate): boolean =>
  topic !== undefined || channelId !== undefined;

/**
 * How many log numbers an update takes at most: one for its event, and one for messages that move with it; for the
 * notice of a move; for each file that it links to; for each message that leaves its channel, and for the oldest messages of both channels.
 */
export function numbersOfUpdate(asked: AskedUpdate): number {
  const files = asked.files.length;
  if (!asksToMove(asked)) return 1 + files;
  const others = asked.mode === 'change_one' ? 0 : STEP - 1;
  const leaving = asked.channelId === undefined ? 0 : 1 + others + 2;
  return 1 + files + Math.min(others, 1) + leaving + (asked.inNew ? 1 : 0);
}

/**
 * Checks the parameters by themselves and, once it is known, for this message. A move to where the message already is
 * changes nothing.
 */
export function checkUpdate(asked: AskedUpdate, message?: MessageSlot): void {
  const { content, channelId, mode } = asked;
  const moves = asksToMove(asked);
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

/** What an update needs besides the message. */
export interface UpdateSnapshot {
  readonly rewriting: RewriteSnapshot | undefined;
  /** The topic of a message that is asked to move to where it is: an earlier move may be taking it away. */
  readonly standing: SeenTopic | undefined;
  /** The move; undefined if the message stays. */
  readonly relocating: Relocating | undefined;
}

/** Reads it. One round trip; two if it links to files of others. */
export async function loadUpdate(
  outside: Outside,
  resolved: Resolved,
  who: Linker & { readonly ownerId?: number },
  asked: AskedUpdate,
  message: MessageSlot,
): Promise<UpdateSnapshot> {
  const { realm } = resolved;
  const { channelId, topic = '' } = message;
  const { content, names, files, mode } = asked;
  const [rewriting, { standing, relocating }] = await Promise.all([
    content === undefined ? undefined : loadRewrite(outside, resolved, who, message, names, files),
    channelId !== undefined && asksToMove(asked)
      ? loadRelocating(outside, realm, who, { channelId, topic, mode }, relocationOf(message, asked), message)
      : { standing: undefined, relocating: undefined },
  ]);
  return { rewriting, standing, relocating };
}

/** Reads what a move needs, or the topic of a message that is asked to move to where it is. One round trip. */
async function loadRelocating(
  outside: Outside,
  realm: string,
  who: { readonly userId: number; readonly ownerId?: number },
  { mode, ...from }: Move['from'] & Pick<Move, 'mode'>,
  to: Move['to'] | undefined,
  message: MessageSlot,
): Promise<Pick<UpdateSnapshot, 'standing' | 'relocating'>> {
  const { table } = outside;
  if (to === undefined) {
    const seen = await table.get(topicKey(realm, from));
    return { standing: { ...from, seen }, relocating: undefined };
  }
  const [target, first] = await Promise.all([
    loadTargetChannel(table, realm, to.channelId, who),
    loadFirstStep(outside, realm, { from, to, mode }, message),
  ]);
  return { standing: undefined, relocating: { to, target, first } };
}
