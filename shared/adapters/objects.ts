import { type Environment, required, variable } from '../environment.ts';
import type { Objects } from '../kernel/outside.ts';
import { REQUEST_TIMEOUT, regionOf, signerFor } from './signer.ts';

/** Seconds for which the address of such a request is good. */
const MOMENT = 60;

/** How S3 says that there is no such object: to those who may not list the bucket, as if it were forbidden. */
const MISSING: ReadonlySet<number> = new Set([403, 404]);

/**
 * The buckets that a function may use, found in its environment by the names of its declaration.
 *
 * Requests go to addresses that are signed beforehand: S3's whole client would be half as much again as all the rest
 * of a function (123 KB), and what is done here is one object at a time. Workers that write large objects in parts
 * take the client.
 */
export function s3Objects(environment: Environment): Objects {
  const region = regionOf(environment);
  // S3 takes keys as they are, where other services escape paths twice.
  const signer = signerFor('s3', environment, { uriEscapePath: false, applyChecksum: false });

  const address = async (
    method: string,
    bucket: string,
    key: string,
    seconds: number,
    query: Readonly<Record<string, string>> = {},
  ): Promise<URL> => {
    const name = required(environment, variable('BUCKET', bucket));
    const base = new URL(environment.AWS_ENDPOINT_URL_S3 ?? `https://${name}.s3.${region}.amazonaws.com`);
    const place = environment.AWS_ENDPOINT_URL_S3 === undefined ? '' : `/${name}`;
    base.pathname = `${place}/${key.split('/').map(encodeURIComponent).join('/')}`;
    const signed = await signer.presign(
      {
        method,
        protocol: base.protocol,
        hostname: base.hostname,
        ...(base.port !== '' && { port: Number(base.port) }),
        path: base.pathname,
        query: { ...query },
        headers: { host: base.host },
      },
      { expiresIn: seconds },
    );
    for (const [field, value] of Object.entries(signed.query ?? {}))
      base.searchParams.set(field, String(value));
    return base;
  };

  const request = async (method: string, bucket: string, key: string, init: RequestInit = {}) => {
    const url = await address(method, bucket, key, MOMENT);
    const answer = await fetch(url, {
      ...init,
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT),
    });
    if (!answer.ok && !(method === 'GET' && MISSING.has(answer.status)) && answer.status !== 404) {
      await answer.body?.cancel();
      throw new Error(`S3 answered ${method} in the bucket of ${bucket} with ${answer.status}`);
    }
    return answer;
  };

  return {
    async put(bucket, key, bytes, contentType, cacheControl) {
      const answer = await request('PUT', bucket, key, {
        body: new Uint8Array(bytes),
        headers: { 'content-type': contentType, ...(cacheControl && { 'cache-control': cacheControl }) },
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`The bucket of ${bucket} does not exist`);
    },
    async get(bucket, key) {
      const answer = await request('GET', bucket, key);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return answer.ok
        ? { bytes, contentType: answer.headers.get('content-type') ?? 'application/octet-stream' }
        : undefined;
    },
    async remove(bucket, key) {
      await (await request('DELETE', bucket, key)).body?.cancel();
    },
    async link(bucket, key, seconds, filename) {
      const disposition = `attachment; filename="${filename}"`;
      const url = await address('GET', bucket, key, seconds, { 'response-content-disposition': disposition });
      return url.href;
    },
  };
}
