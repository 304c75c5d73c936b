import { type ItemOf, indexes } from './keys.ts';

/**
 * The attributes that the indexes carry besides the keys: enough to decide whether a message matches a narrow and whether
 * it is unread. Each is written once more per index, so the list stays short.
 */
export const indexProjection = ['senderId', 'topic', 'readBySender', 'readIn', 'mentions'] as const;

/** A message as an index carries it. Its id is the number of its slot, which is the sort key. */
export type IndexEntry = Pick<
  Extract<ItemOf<'slot'>, { readonly kind: 'message' }>,
  'sk' | (typeof indexProjection)[number]
>;

/** The two text attributes of a key. */
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
      name: indexes.channel.name,
      key: { partition: indexes.channel.pk, sort: indexes.channel.sk },
      includes: indexProjection,
    },
    {
      name: indexes.conversation.name,
      key: { partition: indexes.conversation.pk, sort: indexes.conversation.sk },
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
    Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.includes] },
  })),
  BillingMode: 'PAY_PER_REQUEST' as const,
});
