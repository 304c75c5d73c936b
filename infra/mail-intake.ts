import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3';
import { CfnReceiptRule, CfnReceiptRuleSet } from 'aws-cdk-lib/aws-ses';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

export interface MailIntakeProps {
  /** All mail to addresses at this domain is taken. */
  readonly domain: string;
  /** Where it waits. */
  readonly bucket: Bucket;
  /** Is told of each mail. */
  readonly queue: IQueue;
}

/** Days after which mail is gone from the bucket: as long as the queue of what failed tells of it. */
const kept = 14;

/** What stands before the names under which SES puts mail. */
const prefix = 'mail/';

/**
 * The way of mail from the internet to a queue: SES receives it, over TLS only, scans it and puts it into the bucket;
 * S3 tells the queue. SES has one active set of rules in an account and region, which CloudFormation cannot choose:
 * the operator does (infra/DEPLOY.md).
 */
export class MailIntake extends Construct {
  constructor(scope: Construct, id: string, { domain, bucket, queue }: MailIntakeProps) {
    super(scope, id);
    const { account, region, partition, stackName } = Stack.of(this);
    const ruleSetName = `${stackName}-mail`;
    const ruleName = 'channels';

    bucket.addLifecycleRule({ expiration: Duration.days(kept) });
    bucket.addToResourcePolicy(
      new PolicyStatement({
        sid: 'MailFromSes',
        principals: [new ServicePrincipal('ses.amazonaws.com')],
        actions: ['s3:PutObject'],
        resources: [bucket.arnForObjects(`${prefix}*`)],
        conditions: {
          StringEquals: {
            'aws:SourceAccount': account,
            'aws:SourceArn': `arn:${partition}:ses:${region}:${account}:receipt-rule-set/${ruleSetName}:receipt-rule/${ruleName}`,
          },
        },
      }),
    );

    // Not of this bucket alone, since its own notification needs the leave first.
    const leave = queue.addToResourcePolicy(
      new PolicyStatement({
        sid: 'NewsFromS3',
        principals: [new ServicePrincipal('s3.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    );
    // The CDK's own way to say this takes a function and its role besides.
    const plain = bucket.node.defaultChild as CfnBucket;
    plain.notificationConfiguration = {
      queueConfigurations: [
        {
          event: 's3:ObjectCreated:*',
          queue: queue.queueArn,
          filter: { s3Key: { rules: [{ name: 'prefix', value: prefix }] } },
        },
      ],
    };
    if (leave.policyDependable) plain.node.addDependency(leave.policyDependable);

    const ruleSet = new CfnReceiptRuleSet(this, 'Rules', { ruleSetName });
    const rule = new CfnReceiptRule(this, 'Rule', {
      ruleSetName,
      rule: {
        name: ruleName,
        enabled: true,
        recipients: [domain],
        scanEnabled: true,
        tlsPolicy: 'Require',
        actions: [{ s3Action: { bucketName: bucket.bucketName, objectKeyPrefix: prefix } }],
      },
    });
    // SES tries the bucket when it is given the rule.
    rule.node.addDependency(ruleSet, bucket);
  }
}
