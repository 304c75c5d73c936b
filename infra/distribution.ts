import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution as CloudFront,
  Function as EdgeFunction,
  type ErrorResponse,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, OriginGroup, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { accept } from './accepted.ts';
import type { Deployment } from './deployment-settings.ts';
import type { ListenerFunction } from './listener-function.ts';
import type { PrivateBucket } from './private-bucket.ts';
import type { RestApi } from './rest-api.ts';

export interface DistributionProps extends Pick<Deployment, 'domain' | 'corsOrigins'> {
  readonly api: RestApi;
  /** Servers that hold the requests for their path. */
  readonly listeners: readonly ListenerFunction[];
  /** Images that anyone may see; their keys are the paths of their addresses. */
  readonly images: PrivateBucket | undefined;
  /** What tells the API that a request came this way. */
  readonly proof: Readonly<Record<string, string>> | undefined;
}

/** Seconds that CloudFront waits for the API, which itself gives up at 29. */
const apiTimeout = 30;

/** The longest that it waits for any server without a higher quota. A listener holds a request for less. */
const longestTimeout = 60;

/** Seconds that a connection to a server is kept, the longest there is: a new one costs two more round trips. */
const keepAlive = 60;

/**
 * Runs for each request. The API has a host of its own, by which API Gateway finds it, so the one that the client
 * used travels beside it; and so does the client's address. Whatever the client itself sent under these names is gone.
 *
 * A client without an `Accept` header accepts anything (RFC 9110, 12.5.1). API Gateway needs the header, since it
 * decides by its first type whether a reply is bytes. A custom header of the origin cannot be the default: it would
 * replace what other clients send.
 */
const introduce = `function handler(event) {
  var request = event.request;
  request.headers['x-forwarded-host'] = { value: request.headers.host.value };
  request.headers['x-viewer-address'] = { value: event.viewer.ip };
  if (!request.headers.accept || !request.headers.accept.value) request.headers.accept = { value: '*/*' };
  return request;
}`;

/** CloudFront would cache these errors for ten seconds, and return them to every caller of the same path. */
const errors: ErrorResponse[] = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((httpStatus) => ({
  httpStatus,
  ttl: Duration.seconds(0),
}));

/** The server behind the address of a listener, which knows CloudFront by the proof. */
const listenerOrigin = ({ listener, host, proof }: ListenerFunction): HttpOrigin => {
  if (listener.holdSeconds >= longestTimeout)
    throw new Error(`${listener.id} holds requests for longer than CloudFront waits.`);
  return new HttpOrigin(host, {
    readTimeout: Duration.seconds(longestTimeout),
    keepaliveTimeout: Duration.seconds(keepAlive),
    customHeaders: { ...proof },
  });
};

/** Who came by TLS once never comes without it again. */
const strictTransportSecurity = { accessControlMaxAge: Duration.days(365), override: true };

/**
 * CloudFront before the API, the listeners and the images, so that all are at the organization's own address: images
 * come from their bucket and stay at the edges. A listener gets its own path and the API everything else, as it came,
 * and no reply is kept.
 */
export class Distribution extends Construct {
  /** Where clients find the service, without a slash at the end. */
  readonly url: string;
  /** The host that the operator's own names must lead to. */
  readonly host: string;

  constructor(
    scope: Construct,
    id: string,
    { api, listeners, images, proof, domain, corsOrigins }: DistributionProps,
  ) {
    super(scope, id);
    const gateway = new HttpOrigin(api.host, {
      originPath: `/${api.stage.stageName}`,
      readTimeout: Duration.seconds(apiTimeout),
      keepaliveTimeout: Duration.seconds(keepAlive),
      ...(proof && { customHeaders: proof }),
    });
    const passed = this.passed(corsOrigins);
    const distribution = new CloudFront(this, 'CloudFront', {
      comment: 'Parlance',
      httpVersion: HttpVersion.HTTP2_AND_3,
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      ...(domain && {
        domainNames: [...domain.hosts],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      }),
      defaultBehavior: { origin: gateway, ...passed },
      additionalBehaviors: {
        ...Object.fromEntries(
          listeners.flatMap((listener) => {
            const behavior = { origin: listenerOrigin(listener), ...passed };
            return [...new Set(listener.listener.endpoints.map(({ path }) => path))].map((path) => [
              path,
              behavior,
            ]);
          }),
        ),
        ...(images && { '/user_avatars/*': this.imageBehavior(images, gateway) }),
      },
      errorResponses: errors,
    });
    accept(distribution, {
      'AwsSolutions-CFR1': 'People are where they are; who may use the service is decided by keys.',
      'AwsSolutions-CFR2':
        'The web ACL, where there is one, stands before the API, so that going round CloudFront gains nothing.',
      'AwsSolutions-CFR3':
        'Its log would hold query strings, in which there are words that people search for and their addresses.',
      ...(!domain && {
        'AwsSolutions-CFR4':
          'At the host that CloudFront gives, it takes old versions of TLS too; at a domain of your own 1.2 and newer.',
      }),
    });
    this.host = distribution.distributionDomainName;
    this.url = `https://${domain?.hosts[0] ?? this.host}`;
  }

  /** How requests go to the API and to listeners: as they came, each time. */
  private passed(corsOrigins: readonly string[]): Omit<BehaviorOptions, 'origin'> {
    return {
      // CloudFront has no smaller set of methods with `DELETE` in it.
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // All headers, which is the only way to let credentials through; servers find themselves by their own host.
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      responseHeadersPolicy: this.apiHeaders(corsOrigins),
      // A redirect would make a GET of a POST, and come after the credentials had travelled in clear.
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      compress: false,
      functionAssociations: [{ function: this.introduction(), eventType: FunctionEventType.VIEWER_REQUEST }],
    };
  }

  private introduction(): EdgeFunction {
    return new EdgeFunction(this, 'Introduction', {
      // The CDK's own name follows from the place in the app, which is the same for every stack.
      functionName: this.named('introduction'),
      comment: 'Parlance: tells the API which host and which address a request came to and from.',
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(introduce),
    });
  }

  /**
   * API Gateway renames the `WWW-Authenticate` header of a 401, and no function at the edge runs for replies of 400 and
   * above. So every reply has the header (RFC 9110, 11.6.1 allows that), and clients use it only after a 401.
   * Replies to pages of other origins are marked here too, errors of the gateway included.
   */
  private apiHeaders(corsOrigins: readonly string[]): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'ApiHeaders', {
      responseHeadersPolicyName: this.named('api'),
      comment: 'Parlance: the API',
      customHeadersBehavior: {
        customHeaders: [{ header: 'WWW-Authenticate', value: 'Basic realm="zulip"', override: false }],
      },
      securityHeadersBehavior: { strictTransportSecurity, contentTypeOptions: { override: true } },
      ...(corsOrigins.length > 0 && {
        corsBehavior: {
          accessControlAllowOrigins: [...corsOrigins],
          accessControlAllowMethods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'],
          accessControlAllowHeaders: ['Authorization', 'Content-Type'],
          accessControlExposeHeaders: [
            'Retry-After',
            'X-RateLimit-Limit',
            'X-RateLimit-Remaining',
            'X-RateLimit-Reset',
          ],
          // Credentials are a header that the page sets itself. The one cookie, of a consent to video calls, is for no page.
          accessControlAllowCredentials: false,
          accessControlMaxAge: Duration.hours(1),
          originOverride: true,
        },
      }),
    });
  }

  /** CloudFront's names are those of the whole account, in which a stack may stand in each region. */
  private named(name: string): string {
    const { stackName, region } = Stack.of(this);
    return `${stackName}-${region}-${name}`;
  }

  /** An image that is not there is asked of the API, which says so in its own words. */
  private imageBehavior(images: PrivateBucket, gateway: HttpOrigin): BehaviorOptions {
    const originAccessControl = new S3OriginAccessControl(this, 'ImageAccess', {
      originAccessControlName: this.named('images'),
    });
    return {
      origin: new OriginGroup({
        // The class of the CDK does not match its own interface under exactOptionalPropertyTypes.
        primaryOrigin: S3BucketOrigin.withOriginAccessControl(images as IBucket, { originAccessControl }),
        fallbackOrigin: gateway,
        fallbackStatusCodes: [403, 404],
      }),
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      responseHeadersPolicy: new ResponseHeadersPolicy(this, 'ImageHeaders', {
        responseHeadersPolicyName: this.named('images'),
        comment: 'Parlance: images',
        securityHeadersBehavior: {
          strictTransportSecurity,
          // What people uploaded is shown as what it was taken for, or not at all.
          contentTypeOptions: { override: true },
          contentSecurityPolicy: { contentSecurityPolicy: "default-src 'none'; sandbox", override: true },
        },
      }),
    };
  }
}
