import * as z from 'zod/mini';
import { sesMailer } from '../../shared/adapters/mailer.ts';
import { sendLetters } from '../../shared/domain/mail-out/send.ts';
import { mailOut } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

const job = z.object({ realm: z.string(), kind: z.literal('mail'), job: z.string() });

export const handler = servesQueue(
  mailOut,
  (outside, { body }, { mailer }) => sendLetters(outside, mailer, job.parse(body)),
  { mailer: sesMailer },
);
