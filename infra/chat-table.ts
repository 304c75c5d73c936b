import {
  AttributeType,
  BillingMode,
  type CfnTable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Fn, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { tableSchema } from './table-schema.ts';

const textKey = (key: { readonly partition: string; readonly sort: string }) => ({
  partitionKey: { name: key.partition, type: AttributeType.STRING },
  sortKey: { name: key.sort, type: AttributeType.STRING },
});

/**
 * The one table. It outlives the stack, and can be put back to any second of the last 35 days. It stays even when the first
 * deployment fails: CloudFormation cannot delete what is protected from deletion, and an empty table costs nothing.
 */
export class ChatTable extends Table {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      ...textKey(tableSchema.key),
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: tableSchema.ttlAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: TableEncryption.AWS_MANAGED,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    for (const index of tableSchema.indexes) {
      this.addGlobalSecondaryIndex({
        ...textKey(index.key),
        indexName: index.name,
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: tableSchema.includes,
      });
    }
  }

  /** The ARN of each index, which a `Query` on it is granted by. */
  get indexArns(): string[] {
    const table = Stack.of(this).getLogicalId(this.node.defaultChild as CfnTable);
    // Every role names them, and this takes fewer bytes of the template than joining texts.
    return tableSchema.indexes.map((index) => Fn.sub(`\${${table}.Arn}/index/${index.name}`));
  }
}
