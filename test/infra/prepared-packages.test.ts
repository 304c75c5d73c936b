import { expect, test } from 'vitest';
import { namesIn } from '../../infra/prepared-packages.ts';

const listed = (source: string): Record<string, string[]> =>
  Object.fromEntries([...namesIn([source])].map(([from, names]) => [from, [...names]]));

test.each([
  ["import middy from '@middy/core';", { '@middy/core': ['default'] }],
  [
    "import {\n  DynamoDBClient as Client,\n  type QueryInput,\n  QueryCommand,\n} from '@aws-sdk/client-dynamodb';",
    { '@aws-sdk/client-dynamodb': ['DynamoDBClient', 'QueryCommand'] },
  ],
  ["import one, { two } from '@smithy/core';", { '@smithy/core': ['default', 'two'] }],
  ["export { S3Client } from '@aws-sdk/client-s3';", { '@aws-sdk/client-s3': ['S3Client'] }],
  [
    "import * as z from 'zod/mini';\nconst a = z.string();\ntype B = z.core.$ZodIssue;\nexport const c = fuzz.int();",
    { 'zod/mini': ['string'] },
  ],
])('the names that a module imports from prepared packages are found: %s', (source, names) => {
  expect(listed(source)).toEqual(names);
});

test.each([
  "import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';",
  "import { pack } from 'tar-stream';",
  "import { z } from './zod/mini.ts';",
])('other imports are left alone: %s', (source) => {
  expect(listed(source)).toEqual({});
});
