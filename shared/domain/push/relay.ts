import * as z from 'zod/mini';
import type { Environment } from '../../environment.ts';
import { outgoing, Unreachable } from '../../http/outgoing.ts';
import type { Secrets } from '../../kernel/outside.ts';
import { REFERENCE_VERSION } from '../../model/realm/realm.ts';
import type { PushStatus } from './push-status.ts';

/** The longest that the relay may take for an answer, ms (wire facts 2). */
const TIMEOUT = 30_000;

/** Codes of the relay about the organization or about us, and not about what was asked (wire facts 12.3). */
const UNREGISTERED = 'MISSING_REMOTE_REALM';
const DISALLOWED = 'PUSH_NOTIFICATIONS_DISALLOWED';
const WRONG_CREDENTIALS = 'INVALID_ZULIP_SERVER';

/** Failures of a connection before anything was sent, by the codes of Node and of its `fetch`. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Why the relay did not do what it was asked:
 *
 * - `unreached`: it has not heard of it;
 * - `unsure`: it may have, but nobody heard its answer;
 * - `broken`: it says that it has an error of its own, or too much to do;
 * - `unregistered`, `disallowed`: it does not serve the organization;
 * - `misconfigured`: it does not know us, or is no relay: the operator must see to it;
 * - `refused`: what was asked is wrong, with its code.
 */
export type Trouble =
  | { readonly kind: 'unreached' | 'unsure' | 'broken' | 'unregistered' | 'disallowed' | 'misconfigured' }
  | { readonly kind: 'refused'; readonly code: string };

/** An answer of the relay, or why there is none. */
type Heard<T> =
  | { readonly answer: T; readonly trouble?: never }
  | { readonly trouble: Trouble; readonly answer?: never };

/** What the relay tells of notifications that it took. */
export interface Notified {
  /** Tokens that are dead: their devices get nothing any more. */
  readonly dead: readonly string[];
  /** Absent where it says nothing of it. */
  readonly status: PushStatus | undefined;
}

/** The relay for push notifications, which knows where devices are and cannot read what they are told. */
export interface Relay {
  /** Asks it to take the token of a device (wire facts 12.1). Asking again does no harm. */
  readonly register: (registration: {
    readonly realmUuid: string;
    readonly tokenId: string;
    readonly registration: string;
    readonly relayKey: string;
  }) => Promise<Heard<object>>;
  /** Hands it notifications for any number of devices, in one request. `within` is the time it has, ms. */
  readonly notify: (
    realmUuid: string,
    requests: readonly object[],
    within?: number,
  ) => Promise<Heard<Notified>>;
}

const refusal = z.object({ code: z.optional(z.string().check(z.maxLength(100))) });
const success = z.looseObject({ result: z.literal('success') });
const notified = z.extend(success, {
  delete_token_ids: z.optional(z.array(z.string())),
  realm_push_status: z.nullish(
    z.object({ can_push: z.boolean(), expected_end_timestamp: z.nullish(z.int()) }),
  ),
});

/** The relay that the operator set up; undefined where something of it is missing. */
export async function relayOf(environment: Environment, secrets: Secrets): Promise<Relay | undefined> {
  const { PUSH_RELAY_URL: url, PUSH_RELAY_ORG_ID: id } = environment;
  const secret = await secrets.get('push-relay-org-key');
  if (!url || !id || secret === undefined) return undefined;
  const ask = async <T>(
    path: string,
    body: string,
    contentType: string,
    answer: z.ZodMiniType<T>,
    within = TIMEOUT,
  ): Promise<Heard<T>> => {
    const fetch = outgoing({ addresses: [url], timeout: Math.max(1, Math.min(within, TIMEOUT)) });
    try {
      const response = await fetch(
        new URL(`api/v1/remotes/push/e2ee/${path}`, `${url.replace(/\/$/, '')}/`),
        {
          method: 'POST',
          headers: {
            authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
            'content-type': contentType,
            'user-agent': `ZulipServer/${REFERENCE_VERSION}`,
          },
          body,
        },
      );
      return heardOf(response.status, parsed(await response.text()), answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return { trouble: troubleOf(error) };
    }
  };
  return {
    register: ({ realmUuid, tokenId, registration, relayKey }) =>
      ask(
        'register',
        new URLSearchParams({
          realm_uuid: realmUuid,
          token_id: tokenId,
          encrypted_push_registration: registration,
          bouncer_public_key: relayKey,
        }).toString(),
        'application/x-www-form-urlencoded',
        success,
      ),
    notify: async (realmUuid, requests, within) => {
      const body = JSON.stringify({ realm_uuid: realmUuid, push_requests: requests });
      const heard = await ask('notify', body, 'application/json', notified, within);
      return heard.trouble ? heard : { answer: told(heard.answer) };
    },
  };
}

function told({
  delete_token_ids: dead = [],
  realm_push_status: status,
}: z.infer<typeof notified>): Notified {
  return {
    dead,
    status: status
      ? { isServed: status.can_push, ends: status.expected_end_timestamp ?? undefined }
      : undefined,
  };
}

/** The answer as it was asked for, or what an answer of another kind means (wire facts 12.2, 12.3). */
function heardOf<T>(status: number, body: unknown, answer: z.ZodMiniType<T>): Heard<T> {
  if (status >= 500 || status === 429) return { trouble: { kind: 'broken' } };
  if (status === 200) {
    const read = answer.safeParse(body);
    return read.success ? { answer: read.data } : { trouble: { kind: 'misconfigured' } };
  }
  const code = refusal.safeParse(body).data?.code;
  if (code === UNREGISTERED) return { trouble: { kind: 'unregistered' } };
  if (code === DISALLOWED) return { trouble: { kind: 'disallowed' } };
  const isAboutUs = status === 401 || status === 403 || code === WRONG_CREDENTIALS;
  if (isAboutUs || code === undefined || status !== 400) return { trouble: { kind: 'misconfigured' } };
  return { trouble: { kind: 'refused', code } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function troubleOf({ reason, cause }: Unreachable): Trouble {
  if (reason === 'it redirected' || reason === 'too much' || reason === 'not configured') {
    return { kind: 'misconfigured' };
  }
  // `fetch` wraps what happened to the connection, once or twice.
  const causes = [cause, (cause as Error | undefined)?.cause] as (NodeJS.ErrnoException | undefined)[];
  return { kind: causes.some((each) => NEVER_CONNECTED.has(each?.code ?? '')) ? 'unreached' : 'unsure' };
}
