import { badRequest } from '../../kernel/errors.ts';

/** What a person gets who has signed in. */
export type Purpose =
  /** A session, and this page of ours. */
  | { readonly kind: 'browser'; readonly next: string }
  /** An API key, encrypted with the pad of the mobile client. */
  | { readonly kind: 'mobile'; readonly pad: string }
  /** A login token, encrypted with the pad of the desktop client. */
  | { readonly kind: 'desktop'; readonly pad: string };

/** 32 bytes of a client as hex, with which nobody but this client can read what the browser hands to it. */
const PAD = /^[0-9a-f]{64}$/i;

/** Longest path of a page, in characters: it travels in a cookie. */
const MAX_PATH_LENGTH = 1_000;

/**
 * Checks for which client a sign-in is (companion facts 3.14).
 *
 * @param next the path of a page of this service
 * @throws Refusal if a pad is not 64 hex digits, or if there are two
 */
export function checkPurpose(
  mobilePad: string | undefined,
  desktopPad: string | undefined,
  next: string,
): Purpose {
  if (next.length > MAX_PATH_LENGTH) throw badRequest('The address of the next page is too long.');
  if (mobilePad === undefined && desktopPad === undefined) return { kind: 'browser', next };
  if (mobilePad !== undefined && desktopPad !== undefined) {
    throw badRequest("Send either 'mobile_flow_otp' or 'desktop_flow_otp', not both.");
  }
  const pad = mobilePad ?? desktopPad ?? '';
  if (!PAD.test(pad)) throw badRequest('The one-time pad must be 64 hexadecimal digits.');
  return { kind: mobilePad === undefined ? 'desktop' : 'mobile', pad };
}
