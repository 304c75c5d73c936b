import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Fn, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { proof as proofOf } from '../shared/endpoints/listener.ts';
import { accept } from './accepted.ts';
import { rateLimited } from './gateway-replies.ts';

/** CloudFront's function puts the client's address into this header. */
const addressHeader = 'x-viewer-address';

/** Seconds over which requests are counted, and after which a client that was stopped may try again. */
const window = 300;
const retryAfter = 60;

const untransformed = [{ priority: 0, type: 'NONE' }];
const refusal = 'rate-limited';

/** Metrics are counts. Samples would show whole requests, with the credentials in them. */
const visibility = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
  metricName,
});

/**
 * Limits the requests of one address in front of the gateway, so that bypassing CloudFront gains nothing. The limit of an
 * account is counted by the functions, which can tell to whom a credential belongs. For requests through CloudFront the
 * client's address is in a header. It is trusted only beside a secret that the stack makes and that only CloudFront and
 * this list know.
 */
export class WebAcl extends Construct {
  /** The header that CloudFront must add to its requests. */
  readonly proof: Readonly<Record<string, string>>;
  /** Its name in CloudWatch. */
  readonly metricName: string;

  /** `perAddress` is in requests in five minutes. */
  constructor(scope: Construct, id: string, perAddress: number) {
    super(scope, id);
    this.metricName = `${Stack.of(this).stackName}-WebAcl`;
    const secret = new CfnSecret(this, 'Proof', {
      description: 'Parlance: by this CloudFront is known to the web ACL.',
      generateSecretString: { passwordLength: 32, excludePunctuation: true },
    });
    accept(secret, {
      'AwsSolutions-SMG4':
        'It is read when the stack is deployed, at both places at once; a new one would come to neither.',
    });
    const value = Fn.join('', ['{{resolve:secretsmanager:', secret.ref, ':SecretString}}']);
    this.proof = { [proofOf.header]: value };

    const throughCloudFront: CfnWebACL.StatementProperty = {
      byteMatchStatement: {
        fieldToMatch: { singleHeader: { Name: proofOf.header } },
        positionalConstraint: 'EXACTLY',
        searchString: value,
        textTransformations: untransformed,
      },
    };
    const limits: Readonly<Record<string, CfnWebACL.RateBasedStatementProperty>> = {
      AddressThroughCloudFront: {
        limit: perAddress,
        aggregateKeyType: 'FORWARDED_IP',
        forwardedIpConfig: { headerName: addressHeader, fallbackBehavior: 'NO_MATCH' },
        scopeDownStatement: throughCloudFront,
      },
      Address: {
        limit: perAddress,
        aggregateKeyType: 'IP',
        scopeDownStatement: { notStatement: { statement: throughCloudFront } },
      },
    };
    this.acl = new CfnWebACL(this, 'Acl', {
      scope: 'REGIONAL',
      description: 'Parlance: how much one address may ask',
      defaultAction: { allow: {} },
      customResponseBodies: {
        [refusal]: { contentType: 'APPLICATION_JSON', content: rateLimited(retryAfter) },
      },
      rules: Object.entries(limits).map(([name, statement], priority) => ({
        name,
        priority,
        statement: { rateBasedStatement: { ...statement, evaluationWindowSec: window } },
        action: {
          block: {
            customResponse: {
              responseCode: 429,
              customResponseBodyKey: refusal,
              responseHeaders: [
                { name: 'Retry-After', value: String(retryAfter) },
                { name: 'X-Content-Type-Options', value: 'nosniff' },
                { name: 'Access-Control-Allow-Origin', value: '*' },
              ],
            },
          },
        },
        visibilityConfig: visibility(`${Stack.of(this).stackName}-${name}`),
      })),
      visibilityConfig: visibility(this.metricName),
    });
  }

  private readonly acl: CfnWebACL;

  /** Attaches the web ACL to the API. */
  protect(stage: Stage): void {
    new CfnWebACLAssociation(this, 'Api', { resourceArn: stage.stageArn, webAclArn: this.acl.attrArn });
  }
}
