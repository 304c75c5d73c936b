/**
 * Published prices of AWS in us-east-1, in dollars, before any free tier or discount. They were looked up on 2026-11-21
 * in stored copies of the pages named, since no live page could be fetched: look again before you budget with them.
 */
export interface Price {
  readonly dollars: number;
  /** How many of what they are for. */
  readonly per: number;
  readonly unit: string;
  readonly source: string;
  /** The date of the source: of the copy, or the one on the page itself. */
  readonly asOf: string;
  /** Who published it: AWS on its own page, somebody else, or a source that we could not read. */
  readonly read: 'from AWS' | 'from others' | 'not verified';
}

const MILLION = 1_000_000;

const price = (
  dollars: number,
  per: number,
  unit: string,
  source: string,
  asOf: string,
  read: Price['read'],
): Price => ({ dollars, per, unit, source, asOf, read });

/** The price list. */
export const prices = {
  writeUnit: price(
    0.625,
    MILLION,
    'write request units of DynamoDB, on demand',
    'https://airbyte.com/data-engineering-resources/dynamodb-pricing',
    '2025-07-21',
    'from others',
  ),
  readUnit: price(
    0.125,
    MILLION,
    'read request units of DynamoDB, on demand',
    'https://airbyte.com/data-engineering-resources/dynamodb-pricing',
    '2025-07-21',
    'from others',
  ),
  tableStorage: price(
    0.25,
    1,
    'GB a month in DynamoDB',
    'https://aws.amazon.com/dynamodb/pricing/on-demand/',
    'undated',
    'not verified',
  ),
  lambdaTime: price(
    0.0000133334,
    1,
    'GB-seconds of Lambda on arm64',
    'https://cloudchipr.com/blog/aws-lambda-pricing',
    '2024',
    'from others',
  ),
  lambdaRequest: price(
    0.2,
    MILLION,
    'requests to Lambda',
    'https://aws.amazon.com/lambda/pricing/',
    '2026-09-20',
    'from AWS',
  ),
  webRequest: price(
    0.2,
    MILLION,
    'requests to a Lambda Web Function, assumed to be those of any function',
    'https://docs.aws.amazon.com/lambda/latest/dg/web-functions-scaling.html',
    '2026-11',
    'not verified',
  ),
  webMemory: price(
    0.0000133334,
    1,
    'GB-seconds of memory in a Web Function, assumed to cost what they do with a processor in any function',
    'https://docs.aws.amazon.com/lambda/latest/dg/web-functions-scaling.html',
    '2026-11',
    'not verified',
  ),
  webProcessor: price(
    0.0000230341,
    1,
    'seconds of a processor in a Web Function, assumed to cost what the 1,769 MB do with which a function has one',
    'https://docs.aws.amazon.com/lambda/latest/dg/web-functions-scaling.html',
    '2026-11',
    'not verified',
  ),
  gatewayRequest: price(
    3.5,
    MILLION,
    'requests to a REST API of API Gateway',
    'https://awsforengineers.com/blog/aws-api-gateway-pricing-explained',
    '2025-05-19',
    'from others',
  ),
  edgeRequest: price(
    0.01,
    10_000,
    'HTTPS requests to CloudFront (North America, Europe)',
    'https://wring.co/blog/aws-cloudfront-pricing-guide',
    'undated',
    'from others',
  ),
  edgeFunction: price(
    0.1,
    MILLION,
    'runs of a CloudFront function',
    'https://cur.vantage.sh/aws/amazoncloudfront/',
    'undated',
    'from others',
  ),
  transfer: price(
    0.085,
    1,
    'GB from CloudFront to the internet',
    'https://aws.amazon.com/cloudfront/pricing',
    'undated',
    'from AWS',
  ),
  log: price(
    0.5,
    1,
    'GB of logs taken in by CloudWatch',
    'https://aws.amazon.com/cloudwatch/pricing/',
    'undated',
    'not verified',
  ),
  trace: price(
    5,
    MILLION,
    'traces of X-Ray',
    'https://aws.amazon.com/de/xray/pricing/',
    'undated',
    'from AWS',
  ),
  queueRequest: price(
    0.4,
    MILLION,
    'requests to SQS',
    'https://cloudburn.io/blog/amazon-sqs-pricing',
    '2026-03-14',
    'from others',
  ),
  objectPut: price(
    0.005,
    1_000,
    'objects put into S3',
    'https://aws.amazon.com/s3/pricing/',
    'undated',
    'not verified',
  ),
  alarm: price(
    0.1,
    1,
    'metric that an alarm of CloudWatch looks at, a month',
    'https://002-workshop-application-performance-monitoring.huyanh.click/5-optimization',
    'undated',
    'from others',
  ),
  dashboard: price(
    3,
    1,
    'dashboard of CloudWatch, a month',
    'https://aws.amazon.com/cloudwatch/pricing/',
    'undated',
    'not verified',
  ),
  secret: price(
    0.4,
    1,
    'secret in Secrets Manager, a month',
    'https://aws.amazon.com/secrets-manager/pricing/',
    '2026-09-20',
    'from AWS',
  ),
  key: price(
    1,
    1,
    'key of KMS, a month',
    'https://gist.github.com/dasgoll/b88d5be05dcc0deb052ad40446c2fb40',
    '2019-10-30',
    'from others',
  ),
  instanceHour: price(
    0.0816,
    1,
    'hours of an m7g.large (2 processors, 8 GB)',
    'https://www.factualminds.com/blog/amazon-ec2-on-demand-pricing-instance-families-2026/',
    '2026-06-17',
    'from others',
  ),
} satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof prices;

/** What so many units cost, in dollars. */
export const costOf = (name: PriceName, units: number): number =>
  (units * prices[name].dollars) / prices[name].per;
