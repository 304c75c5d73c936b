import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Where a client believes the service to be. */
export interface PublicAddress {
  /** In small letters and without a port; empty where it is no host at all. */
  readonly host: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

const AUTHORITY = /^[a-z0-9.-]{1,255}(:\d{1,5})?$/i;

/**
 * The host that the client used: what the proxy before the gateway says (CloudFront's function sets
 * `X-Forwarded-Host` whatever the client sent), or else the gateway's own.
 *
 * Whoever calls the gateway itself can say any host there. It chooses an organization, as another address would, and
 * comes back to nobody but that caller; what a caller may do hangs on the key alone. A browser cannot be made to send
 * it on somebody's behalf. So it must never be more than a choice: no reply that it is in may be kept by a cache, and
 * nothing may be allowed because of it.
 */
export function publicAddress(
  event: APIGatewayProxyEvent,
  header: (name: string) => string | undefined,
): PublicAddress {
  const forwarded = header('x-forwarded-host');
  const passedOn = forwarded !== undefined && AUTHORITY.test(forwarded);
  const given = passedOn ? forwarded : (header('host') ?? event.requestContext?.domainName ?? '');
  const host = given.toLowerCase().replace(/:\d+$/, '');
  const scheme = header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  return {
    host: host.length <= 255 && host.isWellFormed() ? host : '',
    baseUrl: `${scheme}://${given}${passedOn ? '' : stagePath(event)}`,
  };
}

/** At API Gateway's own address the name of the stage stands before each path, and so in the base URL. */
function stagePath({ requestContext }: APIGatewayProxyEvent): string {
  const { stage, path } = requestContext ?? {};
  return stage !== undefined && path?.startsWith(`/${stage}/`) ? `/${stage}` : '';
}
