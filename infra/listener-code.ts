import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { CfnWebFunctionRevision } from 'aws-cdk-lib/aws-lambda';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketPolicy,
  type CfnBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { AssetHashType, Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct, type IDependable } from 'constructs';
import { accept } from './accepted.ts';
import type { Bundle } from './build.ts';
import type { DeploymentTasks } from './deployment-tasks.ts';

/**
 * The code of a Web Function in a bucket of its own. Lambda reads it there each time an environment starts, as one
 * version of an object, so that the bucket must keep versions and let Lambda read. The CDK's bucket does neither, so
 * the deployment copies the package from there.
 */
export class ListenerCode extends Construct {
  /** Where Lambda finds the package. */
  readonly location: CfnWebFunctionRevision.S3ObjectProperty;
  /** Where the package lies in the cloud assembly, for those who run it from there. */
  readonly assetPath: string;
  /** What must be there before a revision is made. */
  readonly readable: IDependable;

  /** @param functionName the Web Function whose revisions may read the package. */
  constructor(scope: Construct, id: string, functionName: string, bundle: Bundle, tasks: DeploymentTasks) {
    super(scope, id);
    const { partition, region, account } = Stack.of(this);
    const asset = new Asset(this, 'Package', {
      path: bundle.directory,
      assetHash: bundle.hash,
      assetHashType: AssetHashType.CUSTOM,
    });
    this.assetPath = asset.assetPath;
    const bucket = new Bucket(this, 'Bucket', {
      versioned: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // CloudFormation removes no bucket that has objects; this one is left with a few hundred kilobytes.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      lifecycleRules: [{ noncurrentVersionExpiration: Duration.days(1) }],
    });
    bucket.addToResourcePolicy(
      new PolicyStatement({
        sid: 'Lambda',
        principals: [new ServicePrincipal('lambda.amazonaws.com')],
        actions: ['s3:GetObject', 's3:GetObjectVersion'],
        resources: [bucket.arnForObjects('*')],
        conditions: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: {
            'aws:SourceArn': `arn:${partition}:lambda:${region}:${account}:web-function/${functionName}/revision/*`,
          },
        },
      }),
    );
    accept(bucket, {
      'AwsSolutions-S1':
        'It holds code that stands in the repository, which only Lambda and deployments read.',
    });

    const key = `${bundle.hash}.zip`;
    const logicalId = Stack.of(this).getLogicalId(bucket.node.defaultChild as CfnBucket);
    const copy = tasks.add(
      'CopyCode',
      {
        call: {
          service: 's3',
          action: 'CopyObject',
          parameters: {
            Bucket: bucket.bucketName,
            Key: key,
            CopySource: Fn.join('/', [asset.s3BucketName, asset.s3ObjectKey]),
          },
          physicalResourceId: PhysicalResourceId.of(key),
          outputPaths: ['VersionId'],
        },
        onDelete: {
          service: 's3',
          action: 'DeleteObject',
          parameters: { Bucket: bucket.bucketName, Key: key },
        },
        grants: [
          new PolicyStatement({
            sid: 'ReadPackage',
            actions: ['s3:GetObject'],
            resources: [asset.bucket.arnForObjects(asset.s3ObjectKey)],
          }),
          new PolicyStatement({
            sid: 'PutCode',
            actions: ['s3:PutObject', 's3:DeleteObject'],
            resources: [bucket.arnForObjects('*')],
          }),
        ],
      },
      {
        [`AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/*]`]:
          'The bucket holds nothing but code, each under a name of its own.',
      },
    );
    this.location = { bucket: bucket.bucketName, key, versionId: copy.getResponseField('VersionId') };
    this.readable = bucket.policy as BucketPolicy;
  }
}
