/**
 * The only addresses that may become links or images: the web, mail, telephone, and paths and fragments on this
 * server. This is a list of what is allowed, because nobody can list everything that is dangerous.
 */
const SAFE = /^(?:https?:\/\/|mailto:|tel:|sms:|\/(?!\/)|#)/i;

/** Whether this address may be the target of a link or the source of an image. */
export const isSafeAddress = (address: string): boolean => SAFE.test(address);

/** A host without a scheme, as people write it: `example.com/page`. */
const BARE_HOST = /^[^\s:/?#\\@]+\.[^\s:/?#\\@]{2,}(?:[/?#]|$)/;
const BARE_MAIL = /^[^\s:/?#\\@]+@[^\s:/?#\\@]+$/;

/** Adds the scheme that people leave out: `example.com` is a web site and `me@example.com` a mail address. */
export function withScheme(address: string): string {
  if (BARE_MAIL.test(address)) return `mailto:${address}`;
  return BARE_HOST.test(address) ? `http://${address}` : address;
}
