import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../shared/aws/client-options.ts';
import type { Outside } from '../../shared/kernel/outside.ts';
import { jsonProtocol } from '../../shared/table/protocol.ts';
import type { Send } from '../../shared/table/table.ts';
import type { TestRealm } from '../support/realm.ts';

/** How long (ms) a count waits for the store: on a busy machine a page of a long list takes seconds. */
const PATIENCE = 120_000;

let patient: Send | undefined;

/**
 * The same organization from a container whose client waits for the store as long as it takes. What is counted is
 * the same; a function on Lambda gives up sooner.
 */
export function patientContainer(realm: TestRealm, outside?: Partial<Outside>): TestRealm {
  if (patient === undefined) {
    const client = new DynamoDBClient({
      ...clientOptions(realm.outside.environment, 'DYNAMODB'),
      requestHandler: { requestTimeout: PATIENCE },
      protocol: jsonProtocol,
    });
    const document = DynamoDBDocumentClient.from(client, {
      marshallOptions: { removeUndefinedValues: true },
    });
    patient = (command) => document.send(command as Parameters<typeof document.send>[0]);
  }
  const send = patient;
  return realm.container(() => send, outside);
}
