import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  type MessageAttributeValue,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSMessageAttribute, SQSRecord } from 'aws-lambda';
import * as z from 'zod/mini';
import type { InvocationResult } from './invocation.ts';
import type { EventSource, LambdaFunction } from './template.ts';

export interface QueuePollerOptions {
  readonly source: EventSource;
  readonly lambda: LambdaFunction;
  readonly queueUrl: string;
  readonly region: string;
  /** Signs as the function, since Lambda polls with the rights of the function's role. */
  readonly client: SQSClient;
  readonly invoke: (functionName: string, event: string) => Promise<InvocationResult>;
  readonly onFault: (error: unknown) => void;
}

/** The most that SQS hands out or deletes at once. */
const batchOfSqs = 10;
/** Seconds that SQS may hold a request until a message comes. */
const longestWait = 20;
/** How many batches of a queue Lambda has handled at once to begin with. */
const batchesAtOnce = 5;
/** Milliseconds to wait after a fault before the queue is asked again. */
const pause = 1000;

/** Empties a queue into a function, as Lambda does for an event source mapping. */
export class QueuePoller {
  readonly #options: QueuePollerOptions;
  readonly #stopped = new AbortController();
  readonly #batches = new Set<Promise<void>>();
  #polling: Promise<void> = Promise.resolve();

  constructor(options: QueuePollerOptions) {
    this.#options = options;
  }

  /**
   * Begins to poll.
   *
   * @throws Error when the queue shows a message again before the function has had its time, which Lambda refuses too.
   */
  async start(): Promise<void> {
    const { client, queueUrl, lambda } = this.#options;
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['VisibilityTimeout'] }),
    );
    if (Number(Attributes.VisibilityTimeout) < lambda.timeoutSeconds) {
      throw new Error(
        `The visibility timeout of ${queueUrl} is shorter than the time limit of ${lambda.name}.`,
      );
    }
    this.#polling = this.#poll();
  }

  /** Takes no more messages and waits for the batches that are being handled. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#polling;
    await Promise.all(this.#batches);
  }

  async #poll(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        const messages = await this.#gather();
        if (messages.length === 0) continue;
        const batch = this.#handle(messages).finally(() => this.#batches.delete(batch));
        this.#batches.add(batch);
        if (this.#batches.size >= batchesAtOnce) await Promise.race(this.#batches);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        this.#options.onFault(error);
        await sleep(pause, undefined, { signal: this.#stopped.signal }).catch(() => {});
      }
    }
  }

  /** Waits for messages, and then within the batching window for more, up to the size of a batch. */
  async #gather(): Promise<Message[]> {
    const { batchSize, windowSeconds } = this.#options.source;
    const messages = await this.#receive(batchSize, longestWait);
    const end = Date.now() + windowSeconds * 1000;
    while (messages.length > 0 && messages.length < batchSize && Date.now() < end) {
      const left = Math.min(longestWait, Math.ceil((end - Date.now()) / 1000));
      messages.push(...(await this.#receive(batchSize - messages.length, left)));
    }
    return messages;
  }

  async #receive(count: number, waitSeconds: number): Promise<Message[]> {
    const { Messages = [] } = await this.#options.client.send(
      new ReceiveMessageCommand({
        QueueUrl: this.#options.queueUrl,
        MaxNumberOfMessages: Math.min(count, batchOfSqs),
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
      { abortSignal: this.#stopped.signal },
    );
    return Messages;
  }

  /** Runs the function and deletes what it handled. The rest comes again when its visibility timeout has passed. */
  async #handle(messages: readonly Message[]): Promise<void> {
    const { source, region, invoke, onFault } = this.#options;
    try {
      const event: SQSEvent = {
        Records: messages.map((message) => recordOf(message, source.queueArn, region)),
      };
      const result = await invoke(source.functionName, JSON.stringify(event));
      const handled = result.outcome === 'success' ? handledOf(messages, result.payload, source) : [];
      for (let i = 0; i < handled.length; i += batchOfSqs)
        await this.#delete(handled.slice(i, i + batchOfSqs));
    } catch (error) {
      onFault(error);
    }
  }

  async #delete(messages: readonly Message[]): Promise<void> {
    const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await this.#options.client.send(
      new DeleteMessageBatchCommand({ QueueUrl: this.#options.queueUrl, Entries }),
    );
  }
}

const batchReply = z.nullish(
  z.object({
    batchItemFailures: z.nullish(z.array(z.object({ itemIdentifier: z.string().check(z.minLength(1)) }))),
  }),
);

/** The messages that need not come again. A report that cannot be read means that the whole batch failed. */
function handledOf(messages: readonly Message[], payload: string, source: EventSource): readonly Message[] {
  if (!source.reportsFailures) return messages;
  const reply = batchReply.safeParse(JSON.parse(payload) || null);
  if (!reply.success) return [];
  const failed = new Set(reply.data?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(messages.map(({ MessageId }) => MessageId));
  if (![...failed].every((id) => known.has(id))) return [];
  return messages.filter(({ MessageId = '' }) => !failed.has(MessageId));
}

/** A message in the form in which Lambda hands it to a function. */
function recordOf(message: Message, queueArn: string, region: string): SQSRecord {
  const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {}, MessageAttributes = {} } = message;
  const { MD5OfBody = '', MD5OfMessageAttributes } = message;
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, value]) => [name, attributeOf(value)]),
    ),
    ...(MD5OfMessageAttributes === undefined ? {} : { md5OfMessageAttributes: MD5OfMessageAttributes }),
    md5OfBody: MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}

const attributeOf = ({
  DataType = '',
  StringValue,
  BinaryValue,
}: MessageAttributeValue): SQSMessageAttribute => ({
  ...(StringValue === undefined ? {} : { stringValue: StringValue }),
  ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
  stringListValues: [],
  binaryListValues: [],
  dataType: DataType as SQSMessageAttribute['dataType'],
});
