import { createHash } from 'node:crypto';
import { badRequest } from '../../kernel/errors.ts';
import type { Visibility } from '../../model/message/visibility.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Write } from '../../table/write.ts';
import type { Recipient } from './recipient.ts';

/** A send that was done, remembered under its sender, so that a retry gets the same answer (DESIGN 5). */
export interface Sent {
  readonly messageId: number;
  /** What was sent; a retry must be of the same. */
  readonly fingerprint: string;
  readonly policy?: Visibility;
  /** Seconds since 1970. */
  readonly expires: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    sent: Sent;
  }
}

/** How long a send is remembered at least, seconds. DynamoDB deletes some time after. */
const REMEMBERED = 48 * 3600;

/** The client's own name of a message: the queue it listens to, and its id there. */
export interface Echo {
  readonly queueId: string;
  readonly localId: string;
}

/** By what a retry is recognized: the name of the message, and the digest of what was sent under it. */
export interface SendToken {
  readonly echo: Echo;
  readonly fingerprint: string;
  /** Seconds for which it is recognized, where retries may come later than those of clients. */
  readonly remembered?: number;
}

/** The queue and the local id, which go together (specification 4.1). */
export function checkEcho(queueId: string | undefined, localId: string | undefined): Echo | undefined {
  if ((queueId === undefined) !== (localId === undefined)) {
    throw badRequest("'queue_id' and 'local_id' go together: send both or neither.");
  }
  return queueId === undefined || localId === undefined ? undefined : { queueId, localId };
}

const digest = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** What tells one message from another under the same name. The topic of a direct message means nothing. */
export function fingerprintOf(recipient: Recipient, topic: string | undefined, content: string): string {
  const about = recipient.kind === 'channel' ? [recipient, topic ?? null] : [recipient];
  return digest([...about, content]);
}

/** Where the send of this name is remembered. */
export const sentKey = (realm: string, userId: number, { queueId, localId }: Echo): Key<'sent'> =>
  key('sent', { realm, userId, token: digest([queueId, localId]) });

/** The earlier send of this name, if there was one; a different message under that name is refused. */
export function accessSent(sent: Sent | undefined, token: SendToken | undefined): Sent | undefined {
  if (sent !== undefined && sent.fingerprint !== token?.fingerprint) {
    throw badRequest("This 'local_id' was used for another message of the same queue.");
  }
  return sent;
}

/** Remembers a send. Two at once with one name: the condition lets one of them in. */
export function rememberSent(
  realm: string,
  userId: number,
  { echo, fingerprint, remembered = REMEMBERED }: SendToken,
  messageId: number,
  policy: Visibility | undefined,
  now: number,
): Write {
  const expires = Math.floor(now / 1000) + remembered;
  const sent: Sent = { messageId, fingerprint, ...(policy !== undefined && { policy }), expires };
  return { put: sentKey(realm, userId, echo), item: { ...sent }, when: { absent: true } };
}

/** The token of what the service itself says once: under the name of its job, and which of its parts it is. */
export function onceToken(job: string, part: string, remembered: number): SendToken {
  const localId = `${job}/${part}`;
  return { echo: { queueId: 'outbox', localId }, fingerprint: localId, remembered };
}
