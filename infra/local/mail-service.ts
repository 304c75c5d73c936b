import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod/mini';

const data = z.object({ Data: z.string() });

const mailShape = z.object({
  FromEmailAddress: z.string(),
  Destination: z.object({ ToAddresses: z.array(z.string()) }),
  Content: z.object({
    Simple: z.object({ Subject: data, Body: z.object({ Text: data, Html: data }) }),
  }),
});

/** A mail that a function sent. */
export interface SentMail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Takes the mails that functions send. */
export interface Outbox {
  readonly add: (mail: SentMail) => void;
}

/** The one call of SES that functions make: it takes a mail. Nothing leaves this machine. */
export function createMailService(outbox: Outbox | undefined): Server {
  return createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    try {
      const { FromEmailAddress: from, Destination, Content } = mailShape.parse(await json(request));
      const { Subject, Body } = Content.Simple;
      const at = new Date().toISOString();
      for (const to of Destination.ToAddresses) {
        outbox?.add({ from, to, subject: Subject.Data, text: Body.Text.Data, at });
      }
      answer(200, { MessageId: 'local' });
    } catch {
      answer(400, { message: 'Not readable.' });
    }
  });
}
