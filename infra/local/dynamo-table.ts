import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndex,
  type GlobalSecondaryIndexDescription,
  paginateScan,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { Table } from './template.ts';

/**
 * Makes the table as the template has it. One that is there keeps its items, and gets the indexes that the template
 * has now.
 */
export async function ensureTable(client: DynamoDBClient, table: Table): Promise<void> {
  const schema = table.schema as Omit<CreateTableCommandInput, 'TableName'>;
  const existing = await describe(client, table.name);
  if (existing) return updateIndexes(client, existing, schema);
  await client.send(
    new CreateTableCommand({ ...schema, TableName: table.name, BillingMode: 'PAY_PER_REQUEST' }),
  );
  if (table.ttlAttribute !== undefined) {
    const specification = { AttributeName: table.ttlAttribute, Enabled: true };
    await client.send(
      new UpdateTimeToLiveCommand({ TableName: table.name, TimeToLiveSpecification: specification }),
    );
  }
}

/**
 * Deletes the items whose time has passed, which DynamoDB does within days and the local store never. As on AWS, an
 * item that got more time in the meantime stays.
 *
 * @param now Seconds since 1970.
 */
export async function removeExpired(client: DynamoDBClient, table: Table, now: number): Promise<number> {
  if (table.ttlAttribute === undefined) return 0;
  const { KeySchema: keys = [] } = table.schema as Pick<CreateTableCommandInput, 'KeySchema'>;
  const expired = {
    TableName: table.name,
    ExpressionAttributeNames: { '#ttl': table.ttlAttribute },
    ExpressionAttributeValues: { ':now': { N: String(now) } },
  };
  let removed = 0;
  for await (const { Items = [] } of paginateScan(
    { client },
    { ...expired, FilterExpression: '#ttl < :now' },
  )) {
    for (const item of Items) {
      const key = keys.flatMap(({ AttributeName = '' }) => {
        const value = item[AttributeName];
        return value ? [[AttributeName, value] as const] : [];
      });
      const deletion = { ...expired, Key: Object.fromEntries(key), ConditionExpression: '#ttl < :now' };
      await client.send(new DeleteItemCommand(deletion)).then(
        () => removed++,
        (error) => {
          if (error.name !== 'ConditionalCheckFailedException') throw error;
        },
      );
    }
  }
  return removed;
}

async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function updateIndexes(
  client: DynamoDBClient,
  { TableName, GlobalSecondaryIndexes: present = [] }: TableDescription,
  { AttributeDefinitions, GlobalSecondaryIndexes: wanted = [] }: Omit<CreateTableCommandInput, 'TableName'>,
): Promise<void> {
  const same = present.filter((index) => wanted.some((other) => shapeOf(other) === shapeOf(index)));
  const names = new Set(same.map(({ IndexName }) => IndexName));
  const update = (
    change: 'Create' | 'Delete',
    index: GlobalSecondaryIndex | GlobalSecondaryIndexDescription,
  ) =>
    client.send(
      new UpdateTableCommand({
        TableName,
        ...(change === 'Create'
          ? { AttributeDefinitions, GlobalSecondaryIndexUpdates: [{ Create: index as GlobalSecondaryIndex }] }
          : { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: index.IndexName } }] }),
      }),
    );
  // One at a time, which is all that DynamoDB does in one update.
  for (const index of present) if (!same.includes(index)) await update('Delete', index);
  for (const index of wanted) if (!names.has(index.IndexName)) await update('Create', index);
}

/** What makes two indexes the same, as text. */
const shapeOf = ({
  IndexName,
  KeySchema,
  Projection,
}: GlobalSecondaryIndex | GlobalSecondaryIndexDescription) =>
  JSON.stringify([
    IndexName,
    KeySchema?.map(({ AttributeName, KeyType }) => [AttributeName, KeyType]),
    Projection?.ProjectionType,
    [...(Projection?.NonKeyAttributes ?? [])].sort(),
  ]);
