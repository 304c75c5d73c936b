import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Outside, Vault } from '../../kernel/outside.ts';
import { ConflictError } from '../../log/commit.ts';
import type { AskedMeeting, ConfiguredProvider } from './call-provider.ts';
import { ConsentGone, createMeeting, refreshToken } from './call-talk.ts';
import {
  eraseToken,
  type Holder,
  leaseRefresh,
  loadToken,
  type OpenedToken,
  releaseRefresh,
  replaceToken,
} from './call-token.ts';

/** A token that ends within this time (ms) is refreshed before it is used. */
const MARGIN = 60_000;

/** How long a refresh has the sole right to it (ms): longer than the provider may take. */
const LEASE = 8_000;

/** Between two looks whether somebody else's refresh is done, ms. */
const PROBE = 200;

interface Call {
  readonly outside: Outside;
  readonly vault: Vault;
  readonly holder: Holder & { readonly provider: ConfiguredProvider };
}

/**
 * Makes a meeting in the person's own account, and tells its address (specification 4.12).
 *
 * A token that the provider does not accept, or will not refresh, is erased; one that somebody else renewed in that
 * moment is left alone, and used.
 *
 * @throws Refusal where there is no token, or none any more, or the provider does not answer properly.
 */
export async function createCall(call: Call, asked: AskedMeeting): Promise<string> {
  const first = await freshToken(call);
  try {
    return await createMeeting(call.holder.provider, first, asked);
  } catch (error) {
    if (!(error instanceof ConsentGone)) throw error;
    const newer = await forget(call, first);
    if (newer === undefined) throw refusal('noCallToken');
    return createMeeting(call.holder.provider, newer, asked).catch((again: unknown) => {
      throw again instanceof ConsentGone ? refusal('noCallToken') : again;
    });
  }
}

/** The person's token, refreshed if it is about to end. */
async function freshToken(call: Call): Promise<OpenedToken> {
  const { outside, vault, holder } = call;
  for (const until = outside.now() + LEASE; ; await outside.wait(PROBE)) {
    const token = await loadToken(outside, vault, holder);
    if (token === undefined) throw refusal('noCallToken');
    if (token.expires - MARGIN > outside.now()) return token;
    if (await leaseRefresh(outside, holder, token.version, LEASE)) return renewed(call, token);
    // Somebody else is at it; when they died, the lease ends and is ours.
    if (outside.now() > until) throw badRequest('The consent is being renewed; please try again.');
  }
}

async function renewed(call: Call, token: OpenedToken): Promise<OpenedToken> {
  const { outside, vault, holder } = call;
  try {
    const fresh = await refreshToken(holder.provider, token, outside.now());
    const stored = await replaceToken(outside, vault, holder, token.version, fresh);
    // Meanwhile the person consented once more: theirs is the newer one.
    const current = stored ?? (await loadToken(outside, vault, holder));
    if (current === undefined) throw refusal('noCallToken');
    return current;
  } catch (error) {
    if (!(error instanceof ConsentGone)) {
      await releaseRefresh(outside, holder, token.version);
      throw error;
    }
    const newer = await forget(call, token);
    if (newer === undefined) throw refusal('noCallToken');
    return newer;
  }
}

/** Erases a token that is not accepted any more; tells the one that took its place meanwhile, if there is one. */
async function forget(
  { outside, vault, holder }: Call,
  { version }: OpenedToken,
): Promise<OpenedToken | undefined> {
  try {
    await eraseToken(outside, holder, version);
    return undefined;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return loadToken(outside, vault, holder);
  }
}
