import type { Access } from './iam.ts';
import type { Place } from './template-values.ts';

/** The key of an item as DynamoDB's JSON has it. */
interface KeyInRequest {
  readonly pk?: { readonly S?: string };
}

type Request = Readonly<Record<string, unknown>>;

/** The permissions that a transaction asks for, by the member that its part has. */
const transactionActions = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
} as const;

/**
 * What IAM has to allow for a call of DynamoDB: one permission for each table or index that it touches, and for a
 * transaction those of its parts, as there is none for the transaction itself.
 */
export function dynamodbAccess(
  operation: string,
  request: Request,
  place: Pick<Place, 'region' | 'accountId'>,
): Access[] {
  const { region, accountId } = place;
  const table = (name: unknown): string => {
    const text = String(name);
    return text.startsWith('arn:') ? text : `arn:aws:dynamodb:${region}:${accountId}:table/${text}`;
  };
  const access = (action: string, resource: string): Access => ({ action: `dynamodb:${action}`, resource });

  switch (operation) {
    case 'TransactGetItems':
    case 'TransactWriteItems':
      return records(request.TransactItems).flatMap((part) =>
        Object.entries(transactionActions).flatMap(([member, action]) =>
          isRecord(part[member]) ? [access(action, table(part[member].TableName))] : [],
        ),
      );
    case 'BatchGetItem':
    case 'BatchWriteItem':
      return Object.keys(isRecord(request.RequestItems) ? request.RequestItems : {}).map((name) =>
        access(operation, table(name)),
      );
    case 'Query':
    case 'Scan': {
      const index = request.IndexName === undefined ? '' : `/index/${request.IndexName}`;
      return [access(operation, `${table(request.TableName)}${index}`)];
    }
    case 'UpdateItem':
      return [
        {
          ...access(operation, table(request.TableName)),
          leadingKeys: [String((request.Key as KeyInRequest | undefined)?.pk?.S)],
        },
      ];
    default:
      return [access(operation, request.TableName === undefined ? '*' : table(request.TableName))];
  }
}

const isRecord = (value: unknown): value is Request => typeof value === 'object' && value !== null;

const records = (value: unknown): Request[] => (Array.isArray(value) ? value.filter(isRecord) : []);
