/** A cookie for the host that sets it, and for no other. */
export interface Cookie {
  readonly name: string;
  /** Letters, digits, `-` and `_`. */
  readonly value: string;
  /** Seconds for which the browser keeps it; 0 deletes it. */
  readonly seconds: number;
}

/**
 * The full name of a cookie. With TLS it has the prefix `__Host-`, so that no other subdomain can set it. Without TLS, on a
 * laptop, browsers refuse that prefix.
 */
const nameAt = (baseUrl: string, name: string): string =>
  isSecure(baseUrl) ? `__Host-parlance-${name}` : `parlance-${name}`;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith('https:');

/**
 * The header that sets a cookie. Scripts cannot read it. Browsers send it when a user follows a link or a redirect from
 * another site, but not with that site's background requests (RFC 6265bis).
 */
export const setCookie = (baseUrl: string, { name, value, seconds }: Cookie) => ({
  'Set-Cookie': [
    `${nameAt(baseUrl, name)}=${value}`,
    'Path=/',
    `Max-Age=${seconds}`,
    ...(isSecure(baseUrl) ? ['Secure'] : []),
    'HttpOnly',
    'SameSite=Lax',
  ].join('; '),
});

/** The value of a cookie in a `Cookie` header; undefined if it is missing. */
export function readCookie(baseUrl: string, header: string | undefined, name: string): string | undefined {
  const wanted = `${nameAt(baseUrl, name)}=`;
  const found = header?.split(';').find((pair) => pair.trim().startsWith(wanted));
  return found?.trim().slice(wanted.length);
}
