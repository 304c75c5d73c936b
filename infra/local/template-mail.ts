import * as z from 'zod/mini';

/** How mail arrives: SES stores it in a bucket, which notifies a queue. */
export interface MailRoute {
  /** All addresses at this domain are taken. */
  readonly domain: string;
  readonly bucket: string;
  /** What stands before the names under which it is put there. */
  readonly prefix: string;
  readonly queueArn: string;
}

const ruleShape = z.object({
  Rule: z.object({
    Recipients: z.array(z.string()),
    Actions: z.array(
      z.object({
        S3Action: z.object({ BucketName: z.string(), ObjectKeyPrefix: z._default(z.string(), '') }),
      }),
    ),
  }),
});

const bucketShape = z.object({
  NotificationConfiguration: z.optional(
    z.object({
      QueueConfigurations: z.array(
        z.object({
          Event: z.literal('s3:ObjectCreated:*'),
          Queue: z.string(),
          Filter: z.object({
            S3Key: z.object({ Rules: z.array(z.object({ Name: z.literal('prefix'), Value: z.string() })) }),
          }),
        }),
      ),
    }),
  ),
});

/** A bucket of the template, by its name. */
export interface BucketResource {
  readonly name: string;
  readonly properties: unknown;
}

/**
 * The way that mail takes by a rule of SES.
 *
 * @throws Error if no queue would get the mail.
 */
export function readMailRoutes(rule: unknown, buckets: readonly BucketResource[]): MailRoute[] {
  const { Recipients, Actions } = ruleShape.parse(rule).Rule;
  return Actions.flatMap(({ S3Action: { BucketName: bucket, ObjectKeyPrefix: prefix } }) => {
    const { NotificationConfiguration: told } = bucketShape.parse(
      buckets.find(({ name }) => name === bucket)?.properties ?? {},
    );
    const queue = told?.QueueConfigurations.find(({ Filter }) =>
      Filter.S3Key.Rules.every(({ Value }) => prefix.startsWith(Value)),
    );
    if (!queue) throw new Error(`The template tells nobody of the mail in ${bucket}.`);
    return Recipients.map((domain) => ({ domain, bucket, prefix, queueArn: queue.Queue }));
  });
}
