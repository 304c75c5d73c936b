import { BatchWriteItemCommand, DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import type { BatchWriteCommand as BatchWrite, DeleteCommand as Delete } from '@aws-sdk/lib-dynamodb';

/** Commands that only tests send, with plain values (`shared/table/commands.ts`). */
export const BatchWriteCommand = BatchWriteItemCommand as unknown as typeof BatchWrite;
export const DeleteCommand = DeleteItemCommand as unknown as typeof Delete;
