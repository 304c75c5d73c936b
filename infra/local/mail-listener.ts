import { randomBytes } from 'node:crypto';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  SMTPServer,
  type SMTPServerDataStream,
  type SMTPServerEnvelope,
  type SMTPServerSession,
} from 'smtp-server';
import { listenOnLoopback } from './loopback.ts';
import { StartProblem } from './start-problem.ts';
import type { Queue } from './template.ts';
import type { MailRoute } from './template-mail.ts';

/** A port for mail. */
export interface SmtpPort {
  /** 0 for any free one. */
  readonly port: number;
  /** Whether no other will do: otherwise any free one is taken where this one is in use. */
  readonly isFixed: boolean;
}

export interface MailListenerOptions {
  readonly routes: readonly MailRoute[];
  /** The queues of the template. */
  readonly queues: readonly Queue[];
  /** Where SQS and S3 answer. */
  readonly store: URL;
  readonly region: string;
  readonly onFault: (error: unknown) => void;
}

/** Bytes of one mail that SES takes. */
const largest = 40 * 1024 * 1024;
/** Milliseconds after which a silent client is let go. */
const idle = 60_000;
/** Milliseconds that running deliveries get when the listener stops. */
const grace = 1000;

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Takes mail from the programs of this machine and does with it what SES and S3 do by the rules of the template. */
export class MailListener {
  readonly #options: MailListenerOptions;
  readonly #server: SMTPServer;
  readonly #s3: S3Client;
  readonly #sqs: SQSClient;

  constructor(options: MailListenerOptions) {
    const client = { endpoint: options.store.origin, region: options.region, credentials };
    this.#options = options;
    this.#s3 = new S3Client({ ...client, forcePathStyle: true });
    // The URLs of queues lead to the door, which is for functions.
    this.#sqs = new SQSClient({ ...client, useQueueUrlAsEndpoint: false });
    this.#server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      size: largest,
      socketTimeout: idle,
      closeTimeout: grace,
      logger: false,
      onRcptTo: ({ address }, _session, callback) =>
        callback(
          this.#routesTo(address).length > 0 ? null : refused(550, 'No channel has an address there.'),
        ),
      onData: (stream, session, callback) => {
        this.#take(stream, session).then(
          (key) => callback(null, `Taken as ${key}`),
          (error: Error) => {
            if (!('responseCode' in error)) options.onFault(error);
            callback(error);
          },
        );
      },
    });
    // Clients that disconnect halfway are not an error of ours.
    this.#server.on('error', () => {});
  }

  /**
   * Begins to listen on the loopback interface.
   *
   * @returns The port.
   * @throws StartProblem when it is taken and no other will do.
   */
  async start({ port, isFixed }: SmtpPort): Promise<number> {
    const listen = async (wanted: number) =>
      Number((await listenOnLoopback(this.#server.server, wanted, 'SMTP_PORT')).port);
    try {
      return await listen(port);
    } catch (error) {
      if (isFixed || !(error instanceof StartProblem)) throw error;
      return listen(0);
    }
  }

  /** Takes no more mail. */
  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#s3.destroy();
    this.#sqs.destroy();
  }

  #routesTo(address: string): readonly MailRoute[] {
    const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
    return this.#options.routes.filter((route) => route.domain === domain);
  }

  /** Stores a mail and notifies the queue. Only then does the client get a success. */
  async #take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const chunks: Buffer[] = [];
    // A mail that is too long is read to its end all the same, so that the client gets the reason for the refusal.
    for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk);
    if (stream.sizeExceeded) throw refused(552, 'The mail is too large.');
    const [route] = session.envelope.rcptTo.flatMap(({ address }) => this.#routesTo(address));
    if (!route) throw refused(550, 'No channel has an address there.');
    const id = randomBytes(20).toString('hex');
    const key = `${route.prefix}${id}`;
    const Body = Buffer.concat([Buffer.from(traceOf(session, id, route.domain)), ...chunks]);
    await this.#s3.send(new PutObjectCommand({ Bucket: route.bucket, Key: key, Body }));
    await this.#sqs.send(
      new SendMessageCommand({
        QueueUrl: this.#options.queues.find(({ arn }) => arn === route.queueArn)?.url,
        MessageBody: JSON.stringify(this.#notification(route, key, Body.length)),
      }),
    );
    return key;
  }

  /** The notification of S3 for a new object. */
  #notification({ bucket }: MailRoute, key: string, size: number) {
    return {
      Records: [
        {
          eventVersion: '2.1',
          eventSource: 'aws:s3',
          awsRegion: this.#options.region,
          eventTime: new Date().toISOString(),
          eventName: 'ObjectCreated:Put',
          s3: {
            s3SchemaVersion: '1.0',
            bucket: { name: bucket, arn: `arn:aws:s3:::${bucket}` },
            object: { key: key.split('/').map(encodeURIComponent).join('/'), size },
          },
        },
      ],
    };
  }
}

/** The headers that a server puts before mail: where it came from, and for whom, hidden recipients too. */
function traceOf(
  { envelope, hostNameAppearsAs, remoteAddress }: SMTPServerSession,
  id: string,
  domain: string,
): string {
  return [
    `Return-Path: <${senderOf(envelope)}>`,
    ...envelope.rcptTo.map(({ address }) => `Delivered-To: ${address}`),
    `Received: from ${hostNameAppearsAs} (${remoteAddress}) by ${domain} with SMTP id ${id}; ${new Date().toUTCString()}`,
    '',
  ].join('\r\n');
}

const senderOf = ({ mailFrom }: SMTPServerEnvelope): string => (mailFrom ? mailFrom.address : '');

const refused = (responseCode: number, sentence: string): Error =>
  Object.assign(new Error(sentence), { responseCode });
