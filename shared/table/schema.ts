import { indexProjection } from './index-projection.ts';

/** The two text attributes that make a key: the partition and the place within it. */
interface KeyNames {
  readonly partition: string;
  readonly sort: string;
}

/** One global secondary index. An item without the index's keys is not in it, which keeps an index sparse. */
interface IndexSchema {
  readonly name: string;
  readonly key: KeyNames;
  /** Attributes that the index carries besides the keys of the table and its own. */
  readonly includes: readonly string[];
}

/**
 * The one table as plain data: the stack creates it on AWS from this, the local cloud and the tests create the
 * same one in the local store. All keys are text, since numbers are padded to sort as text.
 */
export const tableSchema = {
  key: { partition: 'pk', sort: 'sk' },
  indexes: [
    {
      name: 'by-channel',
      key: { partition: 'channelKey', sort: 'channelSort' },
      includes: indexProjection,
    },
    {
      name: 'by-conversation',
      key: { partition: 'conversationKey', sort: 'conversationSort' },
      includes: indexProjection,
    },
  ],
  /** Items whose time here (seconds since 1970) has passed are removed by the store, some time later. */
  ttlAttribute: 'expires',
} as const satisfies {
  readonly key: KeyNames;
  readonly indexes: readonly IndexSchema[];
  readonly ttlAttribute: string;
};

const keySchema = (key: KeyNames) => [
  { AttributeName: key.partition, KeyType: 'HASH' as const },
  { AttributeName: key.sort, KeyType: 'RANGE' as const },
];

/**
 * The schema in the words of DynamoDB's `CreateTable`, which CloudFormation uses too. Time to live is not a part
 * of it: the store takes that in a second call, `UpdateTimeToLive` with `tableSchema.ttlAttribute`.
 */
export const tableDefinition = () => ({
  AttributeDefinitions: [tableSchema.key, ...tableSchema.indexes.map((index) => index.key)]
    .flatMap((key): string[] => [key.partition, key.sort])
    .map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
  KeySchema: keySchema(tableSchema.key),
  GlobalSecondaryIndexes: tableSchema.indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keySchema(index.key),
    Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.includes] },
  })),
  BillingMode: 'PAY_PER_REQUEST' as const,
});
