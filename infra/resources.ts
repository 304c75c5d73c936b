import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Stack } from 'aws-cdk-lib/core';
import type { Needs } from '../shared/endpoints/endpoint.ts';
import { variable } from '../shared/environment.ts';
import { itemKinds } from '../shared/table/keys.ts';
import { type AreaLogs, upperCamel } from './area-logs.ts';
import type { ChatTable } from './chat-table.ts';
import type { PrivateBucket } from './private-bucket.ts';

/** What the role of a function depends on. */
export interface Rights {
  readonly id: string;
  readonly needs: Needs;
  /** Grants for its trigger, in addition to those for its needs. */
  readonly triggerGrants?: readonly PolicyStatement[];
}

/** The roles of the functions (`function-roles.ts`). */
interface Roles {
  readonly roleOf: (rights: Rights, resources: Resources) => Role;
}

/** Everything that a function may need, by the names that declarations use. */
export interface Resources {
  readonly table: ChatTable;
  readonly queues: ReadonlyMap<string, IQueue>;
  readonly buckets: ReadonlyMap<string, PrivateBucket>;
  readonly secrets: ReadonlyMap<string, CfnSecret>;
  /** Encrypts stored tokens; only there if a configured feature needs it. */
  readonly key: Key | undefined;
  /** The settings of the operator, by the names of the environment variables. */
  readonly settings: ReadonlyMap<string, string>;
  readonly logs: AreaLogs;
  readonly roles: Roles;
  /** The address of the service. Only what the API does not call may depend on it: CloudFront depends on the API. */
  readonly site: string;
}

/**
 * The resource that a declaration names, among all of its kind.
 *
 * @throws Error with the name if the stack does not have it
 */
export const named = <T>(kind: string, all: ReadonlyMap<string, T>, name: string): T => {
  const found = all.get(name);
  if (!found) throw new Error(`A declaration needs the ${kind} '${name}', which the stack does not have.`);
  return found;
};

/** The grants that follow from a declaration: its actions on its own resources, and nothing else. */
export const grants = (needs: Needs, resources: Resources): PolicyStatement[] => {
  const { table, queues, buckets, secrets, key, settings } = resources;
  const statements: PolicyStatement[] = [];
  const allow = (sid: string, actions: readonly string[], on: string[]) =>
    statements.push(new PolicyStatement({ sid, actions: [...actions], resources: on }));

  if (needs.table.length > 0) {
    allow(
      'Table',
      needs.table.map((action) => `dynamodb:${action}`),
      [table.tableArn],
    );
  }
  if (needs.countsRequests && !needs.table.includes('UpdateItem')) {
    statements.push(
      new PolicyStatement({
        sid: 'CountRequests',
        actions: ['dynamodb:UpdateItem'],
        resources: [table.tableArn],
        // Request counters have their own partitions.
        conditions: {
          'ForAllValues:StringLike': {
            'dynamodb:LeadingKeys': [itemKinds.requests.pk.replaceAll(/\{[^}]+\}/g, '*')],
          },
        },
      }),
    );
  }
  if (needs.table.includes('Query')) allow('TableIndexes', ['dynamodb:Query'], table.indexArns);
  for (const name of needs.queues ?? []) {
    allow(`SendTo${upperCamel(name)}`, ['sqs:SendMessage'], [named('queue', queues, name).queueArn]);
  }
  for (const [name, actions] of Object.entries(needs.buckets ?? {})) {
    allow(
      `ObjectsOf${upperCamel(name)}`,
      actions.map((action) => `s3:${action}`),
      [named('bucket', buckets, name).arnForObjects('*')],
    );
  }
  for (const name of needs.secrets ?? []) {
    allow(`Read${upperCamel(name)}`, ['secretsmanager:GetSecretValue'], [named('secret', secrets, name).ref]);
  }
  const domain = settings.get('MAIL_DOMAIN');
  if (needs.mail && domain !== undefined) {
    const { partition, region, account } = Stack.of(table);
    allow('SendMail', ['ses:SendEmail'], [`arn:${partition}:ses:${region}:${account}:identity/${domain}`]);
  }
  if (needs.key && key) {
    allow(
      'Seal',
      needs.key.map((action) => `kms:${action}`),
      [key.keyArn],
    );
  }
  return statements;
};

/** For cdk-nag: why some of these grants end in a wildcard. It knows buckets by their names in the template. */
export const wideGrants = (needs: Needs, { buckets }: Resources): Record<string, string> =>
  Object.fromEntries(
    Object.keys(needs.buckets ?? {}).map((name) => {
      const bucket = named('bucket', buckets, name);
      const logicalId = Stack.of(bucket).getLogicalId(bucket.node.defaultChild as CfnBucket);
      return [
        `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>/*]`,
        'The objects of a bucket have no other common name; what may be done with them is said one by one.',
      ];
    }),
  );

/** The environment by which a function finds what it needs, under the same names. */
export const environment = (needs: Needs, resources: Resources): Record<string, string> => {
  const { table, queues, buckets, secrets, key, settings } = resources;
  return Object.fromEntries([
    ...(needs.table.length > 0 ? [['TABLE_NAME', table.tableName]] : []),
    ...(needs.queues ?? []).map((name) => [variable('QUEUE', name), named('queue', queues, name).queueUrl]),
    ...Object.keys(needs.buckets ?? {}).map((name) => [
      variable('BUCKET', name),
      named('bucket', buckets, name).bucketName,
    ]),
    ...(needs.secrets ?? []).map((name) => [variable('SECRET', name), named('secret', secrets, name).ref]),
    ...(needs.key && key ? [['KEY_ARN', key.keyArn]] : []),
    ...(needs.site ? [['SITE', resources.site]] : []),
    // An unset setting is absent, not empty.
    ...(needs.settings ?? []).flatMap((name) => {
      const value = settings.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  ]);
};
