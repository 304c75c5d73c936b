import * as z from 'zod/mini';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { takeMail } from '../../shared/domain/mail/delivery.ts';
import { incomingMail, MAIL } from '../../shared/endpoints/workers.ts';
import { servesQueue } from '../../shared/serve/worker.ts';

/** What S3 tells of objects that were put into a bucket. The test that it makes of a new queue has no records. */
const notification = z.object({
  Records: z.optional(
    z.array(z.object({ s3: z.object({ object: z.object({ key: z.string(), size: z.number() }) }) })),
  ),
});

/** Keys arrive as in the query of an address. */
const plainKey = (key: string): string => decodeURIComponent(key.replaceAll('+', ' '));

export const handler = servesQueue(
  incomingMail,
  async (outside, { body }, { objects }) => {
    for (const { s3 } of notification.parse(body).Records ?? []) {
      const key = plainKey(s3.object.key);
      await takeMail(
        outside,
        { key, size: s3.object.size },
        async () => (await objects.get(MAIL, key))?.bytes,
      );
    }
  },
  { objects: s3Objects },
);
