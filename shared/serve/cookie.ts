/** A cookie that a reply sets, for the host it comes from and nobody else. */
export interface Cookie {
  readonly name: string;
  /** Letters, digits, `-` and `_`. */
  readonly value: string;
  /** Seconds for which the browser keeps it; 0 takes it away. */
  readonly seconds: number;
}

/**
 * The name under which browsers have a cookie of ours. With TLS it has the prefix that keeps neighbours out: a browser
 * takes `__Host-` only from the very host, over TLS. Without TLS, on a laptop, there is no such prefix.
 */
const nameAt = (baseUrl: string, name: string): string =>
  isSecure(baseUrl) ? `__Host-parlance-${name}` : `parlance-${name}`;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith('https:');

/**
 * The header that sets a cookie which scripts cannot read and that comes back with links and redirections of other sites,
 * but with none of their requests in the background (RFC 6265bis).
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

/** The value of a cookie in a `Cookie` header; undefined where it is not there. */
export function readCookie(baseUrl: string, header: string | undefined, name: string): string | undefined {
  const wanted = `${nameAt(baseUrl, name)}=`;
  const found = header?.split(';').find((pair) => pair.trim().startsWith(wanted));
  return found?.trim().slice(wanted.length);
}
