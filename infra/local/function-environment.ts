import { randomBytes } from 'node:crypto';
import { SERVICE_TIMEOUT } from '../../shared/aws/client-options.ts';
import type { LambdaFunction } from './template.ts';
import type { Place } from './template-values.ts';

/** Where a function finds what it calls, and the key that it signs with. */
export interface FunctionAccess {
  /** The address at which the services of AWS answer. */
  readonly endpoint: URL;
  readonly accessKeyId: string;
  /** Values that are known only when the service runs, in the place of those in the template. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** An access key id for one function. It looks like one that a role hands out for a while. */
export const newAccessKeyId = (): string => `ASIA${randomBytes(12).toString('hex').toUpperCase()}`;

/** Milliseconds that a function waits for a service: less than most functions may take, and far more than on AWS. */
const servicePatience = 8_000;

/**
 * Everything that a function sees as its environment: its variables in the template, those that Lambda sets, the
 * addresses of the local stores and the time that those may take. Nothing of this process leaks in.
 */
export function functionEnvironment(
  lambda: LambdaFunction,
  { endpoint, accessKeyId, variables = {} }: FunctionAccess,
  place: Place,
): Record<string, string> {
  const address = endpoint.origin;
  return {
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    _HANDLER: lambda.handler,
    LAMBDA_TASK_ROOT: lambda.directory,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: lambda.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(lambda.memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: lambda.logGroup,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_REGION: place.region,
    AWS_DEFAULT_REGION: place.region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: accessKeyId.toLowerCase(),
    AWS_SESSION_TOKEN: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: address,
    AWS_ENDPOINT_URL_SQS: address,
    AWS_ENDPOINT_URL_S3: address,
    AWS_ENDPOINT_URL_KMS: address,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: address,
    AWS_ENDPOINT_URL_SES: address,
    [SERVICE_TIMEOUT]: String(servicePatience),
    // Nothing but this service sets it: no template may (test/infra).
    DEVELOPMENT_SIGN_IN: 'true',
    ...lambda.environment,
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => name in lambda.environment)),
  };
}
