import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { ChatTable } from './chat-table.ts';
import type { ListenerFunction } from './listener-function.ts';
import type { RestApi } from './rest-api.ts';

/** The parts of the service that alarms and the dashboard look at. */
export interface Watched {
  readonly table: ChatTable;
  readonly api: RestApi;
  /** All functions except scheduled ones, by the id of their endpoint or worker. */
  readonly lambdas: ReadonlyMap<string, Lambda>;
  readonly work: readonly {
    /** In upper camel case. */
    readonly name: string;
    /** What the worker does, and what stays undone while it fails. */
    readonly description: string;
    readonly queue: Queue;
  }[];
  /** The dead-letter queue of all these queues. */
  readonly deadLetters: Queue;
  readonly scheduled: readonly { readonly description: string; readonly lambda: Lambda }[];
  /** The Web Functions that hold requests. */
  readonly listeners: readonly ListenerFunction[];
  /** How many polls may run at once, if there is a number. */
  readonly pollConcurrency: number | undefined;
  /** The name of the web ACL's metrics, if there is one. */
  readonly webAcl: string | undefined;
}
