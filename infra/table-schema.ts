import { indexes, indexProjection } from '../shared/table/keys.ts';

/** The two text attributes of a key. */
interface KeyNames {
  readonly partition: string;
  readonly sort: string;
}

/**
 * The one table as plain data: the stack creates it on AWS from this, the local cloud and the tests create the same one
 * in the local store. All keys are text, since numbers are padded to sort as text. An item without the keys of an index
 * is not in it.
 */
export const tableSchema = {
  key: { partition: 'pk', sort: 'sk' },
  indexes: Object.values(indexes).map(({ name, pk, sk }) => ({ name, key: { partition: pk, sort: sk } })),
  /** Attributes that each index carries besides the keys of the table and its own. */
  includes: [...indexProjection] as string[],
  /** DynamoDB removes an item some time after the time (seconds since 1970) in this attribute. */
  ttlAttribute: 'expires',
} as const;

const keySchema = (key: KeyNames) => [
  { AttributeName: key.partition, KeyType: 'HASH' as const },
  { AttributeName: key.sort, KeyType: 'RANGE' as const },
];

/**
 * The schema as input of DynamoDB's `CreateTable` and of CloudFormation. Time to live is set by a second call,
 * `UpdateTimeToLive` with `tableSchema.ttlAttribute`.
 */
export const tableDefinition = () => ({
  AttributeDefinitions: [tableSchema.key, ...tableSchema.indexes.map((index) => index.key)]
    .flatMap((key): string[] => [key.partition, key.sort])
    .map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
  KeySchema: keySchema(tableSchema.key),
  GlobalSecondaryIndexes: tableSchema.indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keySchema(index.key),
    Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...tableSchema.includes] },
  })),
  BillingMode: 'PAY_PER_REQUEST' as const,
});
