import * as z from 'zod/mini';
import type { ErrorCode } from '../kernel/errors.ts';
import type { JsonBounds } from '../kernel/text.ts';
import type { OperatorSettingName } from './operator-setting.ts';
import type { Input, Parameter } from './parameter.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/**
 * Who may call: `anyone` without credentials, everybody else with a valid key. `human` excludes bots, `member` guests, and
 * `person` both.
 * Finer rules (channel administrators, managers of a group) belong to the domain.
 */
export type AllowedCallers = 'anyone' | 'user' | 'human' | 'member' | 'person' | 'administrator' | 'owner';

/** What a function may access. Its IAM policy allows these actions and nothing else. */
export interface Needs {
  /** DynamoDB actions on the table (and, for `Query`, on its indexes). */
  readonly table: readonly TableAction[];
  /** Names of queues it sends to. */
  readonly queues?: readonly string[];
  /** Actions on buckets, by the name of the bucket. */
  readonly buckets?: Readonly<Record<string, readonly BucketAction[]>>;
  /** It sends mail from the operator's domain. */
  readonly mail?: true;
  /** Its environment has the address of the service. */
  readonly site?: true;
  /** Names of secrets it reads. */
  readonly secrets?: readonly string[];
  /** Uses of the service's KMS key, which encrypts stored tokens of users. */
  readonly key?: readonly ('Encrypt' | 'Decrypt')[];
  /** Counts the requests of its callers and notes when their keys are used, so it may write these items. */
  readonly countsRequests?: true;
  /** Operator settings in its environment. */
  readonly settings?: readonly OperatorSettingName[];
}

/** `PutObject` covers a multipart upload too, except for aborting it. */
export type BucketAction = 'GetObject' | 'PutObject' | 'DeleteObject' | 'AbortMultipartUpload';

export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

/** Memory (MB) of a function that hashes passwords, half a second's work: from here on, Lambda gives a whole processor. */
export const HASHING_MEMORY = 1769;

/** The grants of what reads items by their keys alone: no lists, and not the groups of the caller (`serveByRole`). */
export const readsItems = ['BatchGetItem'] as const satisfies readonly TableAction[];

/** The grants of most authenticated reads: batches of items, queries for lists. */
export const reads = [...readsItems, 'Query'] as const satisfies readonly TableAction[];

/** The grants of most writes. Deletions and condition checks are declared separately. */
export const writes = [...reads, 'PutItem', 'UpdateItem'] as const satisfies readonly TableAction[];

/** The grants of signing in with what the request shows: items by key, counted tries, and the new key of the account. */
export const signsIn = ['BatchGetItem', 'UpdateItem'] as const satisfies readonly TableAction[];

/** What endpoints that store an uploaded image have in common. */
export const storesImage = {
  weight: () => 10,
  errors: ['BAD_IMAGE'],
  needs: { table: writes, buckets: { images: ['PutObject', 'DeleteObject'] } },
  // Decoding an animated image takes memory for all of its frames, and this much memory comes with a whole processor.
  memory: 1769,
  timeout: 25,
} as const;

/** What endpoints that remove a stored image need. */
export const removesImage = { table: writes, buckets: { images: ['DeleteObject'] } } as const satisfies Needs;

/** Limits of a request. A larger one is refused before it is parsed. */
export interface RequestSize extends JsonBounds {
  /** Body and query together. */
  readonly bytes: number;
}

/**
 * The declaration of an endpoint. Validation, `ignored_parameters_unsupported`, the gateway's route, the OpenAPI
 * document, the IAM policy, the environment, names in logs and metrics, and the test that no undeclared error is thrown
 * all derive from it.
 */
interface Declaration<P extends Record<string, Parameter>, R> {
  /** `area.verb`: the handler is `functions/area/verb.ts`, and the Lambda is named after it. */
  readonly id: string;
  /**
   * The method and the path from the root, with `{name}` for a path parameter. At the end, `{name+}` takes the rest of the
   * path with its slashes.
   */
  readonly route: `${Method} /${string}`;
  /** Where its rules are defined: sections of the specification or of the wire facts, or a page of Zulip's. */
  readonly source: string;
  /** For the reference page. The first clause is the summary (`summaryOf`). */
  readonly description: string;
  readonly access: AllowedCallers;
  /** Incoming-webhook bots may call it too (wire facts 1.3). */
  readonly webhookBots?: true;
  /** Parameters of path, query and form, by their wire names. Default: none. */
  readonly parameters?: P;
  /** Describes the one file that must be uploaded in a multipart body, if any. */
  readonly file?: string;
  /** Limits of a request that differ from the usual ones (`requestSizeOf`). */
  readonly size?: Partial<RequestSize>;
  /** Describes a response without the JSON envelope, such as a file, with its status if that is not 200. */
  readonly serves?: string;
  /** For browsers: callers have a session (a cookie) instead of credentials, and errors are pages too. */
  readonly isPage?: true;
  /** A page that takes credentials of the API too, in place of a session. */
  readonly takesCredentials?: true;
  /** The fields of a successful reply besides the envelope. Default: none. */
  readonly reply?: z.ZodMiniType<R>;
  /** Error codes besides those of every endpoint like it, such as `BAD_REQUEST` (`codesOf`). Default: none. */
  readonly errors?: readonly ErrorCode[];
  /** It answers 404 `BAD_REQUEST` if the resource of its path does not exist (wire facts 1.3). */
  readonly notFound?: true;
  /** Default: what every authenticated read needs. */
  readonly needs?: Needs;
  /** How many requests one call counts as in the rate limit (companion facts 5). Default: 1. */
  weight?(input: Input<P>): number;
  /** Seconds the function may run; the gateway gives up at 29. */
  readonly timeout?: number;
  /** Memory in MB; Lambda's share of a processor grows with it. */
  readonly memory?: number;
}

/** A declaration with its defaults filled in. */
export interface Endpoint<P extends Record<string, Parameter> = Record<string, Parameter>, R = unknown>
  extends Declaration<P, R> {
  readonly method: Method;
  /** The path as documents show it, with `{name}` for every path parameter. */
  readonly path: string;
  /** The path as the gateway knows it, which may end with `{name+}`. */
  readonly gatewayPath: string;
  readonly parameters: P;
  readonly reply: z.ZodMiniType<R>;
  readonly errors: readonly ErrorCode[];
  readonly needs: Needs;
}

/** What a description says in its first clause. */
export const summaryOf = ({ description }: Pick<Endpoint, 'description'>): string =>
  description.split(/[.;:](?=\s|$)/)[0] ?? '';

/** The type of an endpoint's parsed parameters. */
export type InputOf<E> = E extends Endpoint<infer P, unknown> ? Input<P> : never;

/** The type of an endpoint's successful reply. */
export type ReplyOf<E> = E extends { readonly reply: z.ZodMiniType<infer R> } ? R : never;

type NoFields = Readonly<Record<never, never>>;

/**
 * Declares an endpoint, keeping the precise types of its parameters and reply. Every endpoint with callers also gets
 * what the rate limit needs.
 */
export function endpoint<P extends Record<string, Parameter> = NoFields, R = NoFields>(
  declaration: Declaration<P, R>,
): Endpoint<P, R> {
  const { access, route, needs = { table: reads } } = declaration;
  const [method, gatewayPath] = route.split(' ') as [Method, string];
  const settings = [...(needs.settings ?? []), 'API_RATE_LIMIT'] as const;
  return {
    parameters: {} as P,
    reply: z.object({}) as z.ZodMiniType as z.ZodMiniType<R>,
    errors: [],
    ...declaration,
    method,
    path: gatewayPath.replace('+}', '}'),
    gatewayPath,
    needs: access === 'anyone' ? needs : { ...needs, settings, countsRequests: true },
  };
}
