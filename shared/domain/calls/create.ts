import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { ConflictError } from '../../log/commit.ts';
import type { AskedMeeting, ConfiguredProvider } from './provider.ts';
import { ConsentGone, createMeeting, refreshToken } from './provider-api.ts';
import {
  eraseToken,
  type Holder,
  leaseRefresh,
  loadToken,
  type OpenedToken,
  releaseRefresh,
  replaceToken,
} from './token.ts';

/** A token that expires within this time (ms) is refreshed before use. */
const MARGIN = 60_000;

/** How long one request may hold the refresh (ms): longer than the provider may take. */
const LEASE = 8_000;

/** How often to check whether another request has finished the refresh, ms. */
const PROBE = 200;

interface Call {
  readonly outside: Outside;
  readonly vault: Vault;
  readonly holder: Holder & { readonly provider: ConfiguredProvider };
}

/**
 * Creates a meeting in the person's own account and returns its URL (specification 4.12).
 *
 * A token that the provider rejects, or refuses to refresh, is erased. If another request has renewed it meanwhile, the
 * new token is used instead.
 *
 * @throws Refusal if there is no usable token, or if the provider does not answer properly.
 */
export async function createCall(call: Call, asked: AskedMeeting): Promise<string> {
  const { provider } = call.holder;
  const first = await freshToken(call);
  try {
    return await createMeeting(provider, first, asked);
  } catch (error) {
    if (!(error instanceof ConsentGone)) throw error;
    return createMeeting(provider, await successorOf(call, first), asked).catch((again: unknown) => {
      throw again instanceof ConsentGone ? refusal('noCallToken') : again;
    });
  }
}

/** The person's token, refreshed if it is about to expire. */
async function freshToken(call: Call): Promise<OpenedToken> {
  const { outside, vault, holder } = call;
  for (const until = outside.now() + LEASE; ; await outside.wait(PROBE)) {
    const token = await loadToken(outside, vault, holder);
    if (token === undefined) throw refusal('noCallToken');
    if (token.expires - MARGIN > outside.now()) return token;
    if (await leaseRefresh(outside, holder, token.version, LEASE)) return renewed(call, token);
    // Another request is refreshing it. If that one died, its lease ends and we take over.
    if (outside.now() > until) throw badRequest('The consent is being renewed; please try again.');
  }
}

async function renewed(call: Call, token: OpenedToken): Promise<OpenedToken> {
  const { outside, vault, holder } = call;
  try {
    const fresh = await refreshToken(holder.provider, token, outside.now());
    const stored = await replaceToken(outside, vault, holder, token.version, fresh);
    // The person has consented again meanwhile: that token is the newer one.
    const current = stored ?? (await loadToken(outside, vault, holder));
    if (current === undefined) throw refusal('noCallToken');
    return current;
  } catch (error) {
    if (error instanceof ConsentGone) return successorOf(call, token);
    await releaseRefresh(outside, holder, token.version);
    throw error;
  }
}

/** Erases a rejected token, and refuses. If another token has replaced it meanwhile, returns that one instead. */
async function successorOf({ outside, vault, holder }: Call, { version }: OpenedToken): Promise<OpenedToken> {
  try {
    await eraseToken(outside, holder, version);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const newer = await loadToken(outside, vault, holder);
    if (newer !== undefined) return newer;
  }
  throw refusal('noCallToken');
}
