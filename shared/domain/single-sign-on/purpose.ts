import { badRequest } from '../../kernel/errors.ts';

/** What a person gets who has signed in. */
export type Purpose =
  /** A session, and this page of ours. A new person joins by the invitation with this token. */
  | { readonly kind: 'browser'; readonly next: string; readonly invitation?: string }
  /** An API key, encrypted with the pad of the mobile client. */
  | { readonly kind: 'mobile'; readonly pad: string }
  /** A login token, encrypted with the pad of the desktop client. */
  | { readonly kind: 'desktop'; readonly pad: string };

/** 32 bytes of a client as hex, with which nobody but this client can read what the browser hands to it. */
const PAD = /^[0-9a-f]{64}$/i;

/** Longest path of a page, and token of an invitation, in characters: they travel in a cookie. */
const MAX_PATH_LENGTH = 1_000;
const MAX_TOKEN_LENGTH = 100;

/**
 * Checks for which client a sign-in is (companion facts 3.14).
 *
 * @param page for a browser: the path of a page of this service, and the token of an invitation
 * @throws Refusal if a pad is not 64 hex digits, if there are two, or if the cookie would be too long
 */
export function checkPurpose(
  mobilePad: string | undefined,
  desktopPad: string | undefined,
  { next, invitation }: { readonly next: string; readonly invitation: string | undefined },
): Purpose {
  if (next.length > MAX_PATH_LENGTH) throw badRequest('The address of the next page is too long.');
  if (mobilePad === undefined && desktopPad === undefined) {
    if (invitation === undefined) return { kind: 'browser', next };
    if (invitation.length > MAX_TOKEN_LENGTH) throw badRequest('This is not the link of an invitation.');
    return { kind: 'browser', next, invitation };
  }
  if (mobilePad !== undefined && desktopPad !== undefined) {
    throw badRequest("Send either 'mobile_flow_otp' or 'desktop_flow_otp', not both.");
  }
  const pad = mobilePad ?? desktopPad ?? '';
  if (!PAD.test(pad)) throw badRequest('The one-time pad must be 64 hexadecimal digits.');
  return { kind: mobilePad === undefined ? 'desktop' : 'mobile', pad };
}
