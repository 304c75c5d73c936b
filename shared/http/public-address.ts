import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

/** Address blocks that are not public: IANA's registries of special-purpose addresses, and multicast. */
const reserved = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  reserved.addSubnet(network, prefix, 'ipv4');
}

/** Public IPv6 addresses are in this block, except for those that `tunnels` has. */
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');

/** Blocks of IPv6 with an IPv4 address inside, and documentation. */
const tunnels = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  tunnels.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address belongs to a host on the internet, and not to this machine or its networks. */
export const isPublicAddress = (address: string): boolean =>
  isIP(address) === 4
    ? !reserved.check(address, 'ipv4')
    : isIP(address) === 6 && global.check(address, 'ipv6') && !tunnels.check(address, 'ipv6');

/** The host has an address that is not public. */
export class NotPublic extends Error {
  constructor() {
    super('the host has an address that is not public');
    this.name = 'NotPublic';
  }
}

/** Resolves a name, and fails if any of its addresses is not public. The connection goes to what was checked. */
export const lookupPublic: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) return callback(error ?? new NotPublic(), []);
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(new NotPublic(), []);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });

/**
 * `fetch` over TLS, from a public address only. It follows no redirects.
 *
 * @param connection how to connect, which only tests change
 * @throws NotPublic if the host has another address, or if the URL has no TLS
 */
export async function fetchPublic(
  request: Request,
  connection: Pick<RequestOptions, 'lookup' | 'ca'> = { lookup: lookupPublic },
): Promise<Response> {
  const url = new URL(request.url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' || (isIP(host) !== 0 && !isPublicAddress(host))) throw new NotPublic();
  const body = Buffer.from(await request.arrayBuffer());
  const { method, signal, headers } = request;
  if (body.length > 0) headers.set('content-length', String(body.length));
  const options = { ...connection, method, signal, headers: Object.fromEntries(headers) };
  return new Promise((resolve, reject) => {
    httpsRequest(url, options, (answer) => resolve(responseOf(answer)))
      .on('error', reject)
      .end(body);
  });
}

/** Statuses whose answers have no body. */
const BODYLESS = [204, 205, 304];

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 502, headersDistinct } = answer;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  if (!BODYLESS.includes(status)) {
    return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
  }
  answer.resume();
  return new Response(null, { status, headers });
}
