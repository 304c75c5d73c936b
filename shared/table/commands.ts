import {
  BatchGetItemCommand,
  QueryCommand as ClientQueryCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type {
  BatchGetCommand as BatchGet,
  PutCommand as Put,
  QueryCommand as Query,
  TransactWriteCommand as TransactWrite,
  UpdateCommand as Update,
} from '@aws-sdk/lib-dynamodb';

/*
 * The commands of DynamoDB's client, with the types of its document client: our protocol converts plain values itself. The
 * document client's own commands would add a second conversion to every bundle (9 KB), which nothing runs.
 */

export const BatchGetCommand =
  class BatchGetCommand extends BatchGetItemCommand {} as unknown as typeof BatchGet;
export const PutCommand = class PutCommand extends PutItemCommand {} as unknown as typeof Put;
export const QueryCommand = class QueryCommand extends ClientQueryCommand {} as unknown as typeof Query;
export const TransactWriteCommand =
  class TransactWriteCommand extends TransactWriteItemsCommand {} as unknown as typeof TransactWrite;
export const UpdateCommand = class UpdateCommand extends UpdateItemCommand {} as unknown as typeof Update;

export type QueryCommand = Query;
export type TransactWriteCommand = TransactWrite;
