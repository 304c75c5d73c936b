import type * as z from 'zod/mini';
import type { ErrorCode } from '../kernel/errors.ts';
import { type JsonBounds, usualBounds } from '../kernel/json-text.ts';
import type { OperatorSettingName } from './operator-setting.ts';
import type { Input, Parameter } from './parameter.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/**
 * Who may call. `anyone` needs no credentials; every other word needs a valid key. Finer rules (channel
 * administrators, a group's managers) belong to the domain.
 */
export type AllowedCallers = 'anyone' | 'user' | 'human' | 'member' | 'administrator' | 'owner';

/** What a function may touch. The IAM policy is made from this, action by action, and nothing else. */
export interface Needs {
  /** DynamoDB actions on the table (and, for `Query`, on its indexes). */
  readonly table: readonly TableAction[];
  /** Names of queues it sends to. */
  readonly queues?: readonly string[];
  /** Buckets and what it does there. */
  readonly buckets?: Readonly<Record<string, readonly BucketAction[]>>;
  /** Names of secrets it reads. */
  readonly secrets?: readonly string[];
  /** What it uses the service's own key for, which seals other people's tokens at rest. */
  readonly key?: readonly ('Encrypt' | 'Decrypt')[];
  /** Counts the requests of its callers: it may write their counters, whatever it may do with other items. */
  readonly countsRequests?: true;
  /** Settings of the operator that it finds in its environment. */
  readonly settings?: readonly OperatorSettingName[];
}

/** `PutObject` also covers all steps of an upload in parts but the one that gives it up. */
export type BucketAction = 'GetObject' | 'PutObject' | 'DeleteObject' | 'AbortMultipartUpload';

export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** What every authenticated read does: one batch for items, queries for lists. */
export const reads = ['BatchGetItem', 'Query'] as const satisfies readonly TableAction[];

/** What every write does besides: numbers by `UpdateItem`, slots by `PutItem`. Deletions and checks are said apart. */
export const writes = [...reads, 'PutItem', 'UpdateItem'] as const satisfies readonly TableAction[];

/** The most that a request may hold. What is larger is refused before it is parsed. */
export interface RequestSize extends JsonBounds {
  /** Of body and query together. */
  readonly bytes: number;
}

/** Room for a message of 10,000 characters that take 12 bytes each in a form, and for a list of 5,000 names. */
const usualSize: RequestSize = { bytes: 512 * 1024, ...usualBounds };

/** Bytes of a request that anybody may have parsed: what is larger waits until its key is accepted. */
export const SMALL_REQUEST = 32 * 1024;

/** The most that a request to this endpoint may hold; where there is no key to wait for, it must be small. */
export const requestSizeOf = ({ size, access }: Pick<Endpoint, 'size' | 'access'>): RequestSize => ({
  ...usualSize,
  ...(access === 'anyone' && { bytes: SMALL_REQUEST }),
  ...size,
});

/**
 * One endpoint, said once. From it come validation, `ignored_parameters_unsupported`, the gateway's route, the
 * OpenAPI document, the IAM policy, the environment, names in logs and metrics, and the test that nothing
 * undeclared is thrown.
 */
export interface Endpoint<P extends Record<string, Parameter> = Record<string, Parameter>, R = unknown> {
  /** `area.verb`: the function file is `functions/area/verb.ts`, the Lambda is named for it. */
  readonly id: string;
  readonly method: Method;
  /** Path from the root, with `{name}` for a parameter of the path. */
  readonly path: string;
  /** Where the rules stand: a section of the specification or of the wire facts. */
  readonly source: string;
  /** One sentence for the reference page. */
  readonly description: string;
  readonly access: AllowedCallers;
  /** Incoming-webhook bots may call it too: they may do nothing but send (wire facts 1.3). */
  readonly webhookBots?: true;
  /** Parameters of path, query and form alike, by their wire names. */
  readonly parameters: P;
  /** What the one file is that must be uploaded, in a multipart body; absent where none is taken. */
  readonly file?: string;
  /** How large a request may be, where that is not as `usualSize` says. */
  readonly size?: Partial<RequestSize>;
  /** What it answers with instead of the envelope, a file mostly; a status other than 200 stands in it. */
  readonly serves?: string;
  /** The fields of a successful reply besides the envelope. */
  readonly reply: z.ZodMiniType<R>;
  /** Codes that its own rules can answer with, besides those that every endpoint shares. */
  readonly errors: readonly ErrorCode[];
  /** What its path names may not be there, which it tells with `BAD_REQUEST` and 404 (wire facts 1.3). */
  readonly notFound?: true;
  readonly needs: Needs;
  /** As how many requests of its caller one counts (companion facts 5), where that is not one. */
  weight?(input: Input<P>): number;
  /** Seconds the function may run; the gateway gives up at 29. */
  readonly timeout?: number;
  /** Memory in MB; Lambda's share of a processor grows with it. */
  readonly memory?: number;
}

/** The type of an endpoint's parsed parameters. */
export type InputOf<E> = E extends Endpoint<infer P, unknown> ? Input<P> : never;

/** The type of an endpoint's successful reply. */
export type ReplyOf<E> = E extends { readonly reply: z.ZodMiniType<infer R> } ? R : never;

/**
 * Declares an endpoint, keeping the precise types of its parameters and reply. What every endpoint with callers needs is
 * added here.
 */
export const endpoint = <P extends Record<string, Parameter>, R>(
  declaration: Endpoint<P, R>,
): Endpoint<P, R> => {
  const { access, needs } = declaration;
  if (access === 'anyone') return declaration;
  const settings = [...(needs.settings ?? []), 'API_RATE_LIMIT'] as const;
  return { ...declaration, needs: { ...needs, settings, countsRequests: true } };
};
