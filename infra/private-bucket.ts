import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { AccessLogs } from './access-logs.ts';

/**
 * A bucket that only functions can reach, only over TLS. It contains people's data, so it outlives the stack; it is
 * removed only if the deployment that created it fails.
 */
export class PrivateBucket extends Bucket {
  /** @param daysKept days that each object is kept; forever if absent */
  constructor(scope: Construct, id: string, accessLogs: AccessLogs, daysKept?: number) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // The class of the CDK does not match its own interface under exactOptionalPropertyTypes.
      serverAccessLogsBucket: accessLogs as IBucket,
      serverAccessLogsPrefix: `${id}/`,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      // Parts of unfinished uploads are invisible but cost money.
      lifecycleRules: [
        { abortIncompleteMultipartUploadAfter: Duration.days(7) },
        ...(daysKept === undefined ? [] : [{ expiration: Duration.days(daysKept) }]),
      ],
    });
  }
}
