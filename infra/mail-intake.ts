import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3';
import { CfnReceiptRule, CfnReceiptRuleSet } from 'aws-cdk-lib/aws-ses';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

export interface MailIntakeProps {
  /** Mail to all addresses at this domain is accepted. */
  readonly domain: string;
  /** Stores the mail until it is processed. */
  readonly bucket: Bucket;
  /** Gets a message for each mail. */
  readonly queue: IQueue;
}

/** Days that mail stays in the bucket: as long as the dead-letter queue keeps its message. */
const kept = 14;

/** The prefix of the names of mail objects. */
const prefix = 'mail/';

/**
 * Takes mail from the internet to a queue: SES receives it, only over TLS, scans it and stores it in the bucket;
 * S3 notifies the queue. SES has one active set of rules in an account and region, which CloudFormation cannot choose:
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

    // Not limited to this bucket: its notification needs the permission first.
    const leave = queue.addToResourcePolicy(
      new PolicyStatement({
        sid: 'NewsFromS3',
        principals: [new ServicePrincipal('s3.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    );
    // The CDK's own way adds a function and a role.
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
    // SES tests the bucket when the rule is created.
    rule.node.addDependency(ruleSet, bucket);
  }
}
