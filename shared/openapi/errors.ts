import * as z from 'zod/mini';
import type { AllowedCallers, Endpoint } from '../endpoints/endpoint.ts';
import { type ErrorCode, problems, type Refusal, refusal } from '../kernel/errors.ts';

/** Codes that any request can get: too many requests, and internal errors. */
export const generalCodes = ['RATE_LIMIT_HIT', 'INTERNAL_SERVER_ERROR'] as const;

/** A code on the wire, from a function or from the gateway. */
export type Code = ErrorCode | (typeof generalCodes)[number];

/** The fields of an error besides `result`, `msg` and `code` (specification 7, wire facts 1.3). */
const fields: Partial<Record<Code, Readonly<Record<string, z.ZodMiniType>>>> = {
  BAD_REQUEST: {
    parameters: z.optional(z.string()),
    errors: z.optional(z.record(z.string(), z.array(z.string()))),
  },
  REQUEST_VARIABLE_MISSING: { var_name: z.string() },
  REQUEST_CONFUSING_VAR: { var_name1: z.string(), var_name2: z.string() },
  REQUEST_VARIABLE_INVALID: { var_name: z.string(), bad_value: z.union([z.string(), z.int()]) },
  STREAM_DOES_NOT_EXIST: { stream: z.optional(z.string()), stream_id: z.optional(z.int()) },
  EXPECTATION_MISMATCH: { field_name: z.enum(['old', 'prev_content_sha256']) },
  SYSTEM_GROUP_REQUIRED: { setting_name: z.string() },
  CANNOT_DEACTIVATE_LAST_USER: { is_last_owner: z.boolean(), entity: z.string() },
  CANNOT_DEACTIVATE_GROUP_IN_USE: { objections: z.array(z.looseObject({ type: z.string() })) },
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: {
    first_message_id_allowed_to_move: z.int(),
    total_messages_in_topic: z.int(),
    total_messages_allowed_to_move: z.int(),
  },
  INVITATION_FAILED: {
    errors: z.array(z.tuple([z.string(), z.string(), z.boolean()])),
    sent_invitations: z.boolean(),
    license_limit_reached: z.boolean(),
    daily_limit_reached: z.boolean(),
  },
  BAD_NARROW: { desc: z.string() },
  BAD_EVENT_QUEUE_ID: { queue_id: z.string() },
  RATE_LIMIT_HIT: { 'retry-after': z.number() },
};

/** The exact fields of an error besides the envelope. */
export const errorFields = (code: Code): z.ZodMiniType => z.strictObject(fields[code] ?? {});

/** The whole error, with its envelope. */
export const errorShape = (code: Code): z.ZodMiniType =>
  z.object({ result: z.literal('error'), msg: z.string(), code: z.literal(code), ...fields[code] });

/** Codes that every endpoint can return, besides those of its own rules. */
const everywhere: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'REQUEST_VARIABLE_MISSING',
  'REQUEST_CONFUSING_VAR',
  'UNAUTHORIZED',
  'REALM_DEACTIVATED',
  'NONEXISTENT_SUBDOMAIN',
];

/** Those that only a caller with a key can get. */
const ofCallers: ReadonlySet<ErrorCode> = new Set(['UNAUTHORIZED', 'REALM_DEACTIVATED']);

/** Every code that an endpoint can return: its own, those that follow from who may call, and the common ones. */
export const codesOf = ({ errors, access }: Pick<Endpoint, 'errors' | 'access'>): readonly ErrorCode[] => [
  ...new Set([
    ...everywhere.filter((code) => access !== 'anyone' || !ofCallers.has(code)),
    ...(access === 'administrator' || access === 'owner' ? (['UNAUTHORIZED_PRINCIPAL'] as const) : []),
    ...errors,
  ]),
];

/** A path with other text in place of an ID gets the same 404 as a path that does not exist. */
const hasPathId = (parameters: Endpoint['parameters']): boolean =>
  Object.values(parameters).some(({ wire }) => wire === 'digits');

/** The statuses of a code from this endpoint. */
export const statusesOf = (
  code: string,
  { notFound, parameters }: Pick<Endpoint, 'notFound' | 'parameters'>,
): readonly number[] => [
  ...new Set(
    Object.values(problems)
      .filter((problem) => problem.code === code)
      .map(({ status }) => status)
      .filter(
        (status) => code !== 'BAD_REQUEST' || status !== 404 || notFound === true || hasPathId(parameters),
      ),
  ),
];

/**
 * An example of each code. It comes from the same table as the errors of the service, so clients get exactly these texts
 * and fields (`test/openapi/refusals.test.ts`).
 */
const refusals: Readonly<Record<Exclude<Code, 'INTERNAL_SERVER_ERROR'>, Refusal>> = {
  BAD_REQUEST: refusal('insufficientPermission'),
  REQUEST_VARIABLE_MISSING: refusal('missingParameter', { name: 'content' }),
  REQUEST_CONFUSING_VAR: refusal('confusingParameter', { first: 'topic', second: 'subject' }),
  REQUEST_VARIABLE_INVALID: refusal('invalidParameter', {
    name: 'message_content_edit_limit_seconds',
    value: '"soon"',
  }),
  UNAUTHORIZED: refusal('unauthorized'),
  UNAUTHORIZED_PRINCIPAL: refusal('notAdministrator'),
  PERMISSION_DENIED: refusal('onlyBots'),
  AUTHENTICATION_FAILED: refusal('wrongPassword'),
  USER_DEACTIVATED: refusal('userDeactivated'),
  REALM_DEACTIVATED: refusal('organizationDeactivated'),
  NONEXISTENT_SUBDOMAIN: refusal('unknownOrganization'),
  INVALID_VIDEO_CALL_PROVIDER_TOKEN: refusal('noCallToken'),
  PUSH_SERVICE_NOT_CONFIGURED: refusal('noPushService'),
  NO_ACTIVE_PUSH_DEVICE: refusal('noPushDevice'),
  INVALID_PUSH_DEVICE_TOKEN: refusal('invalidPushToken'),
  ADMIN_ACTION_REQUIRED: refusal('pushAdminNeeded'),
  FAILED_TO_CONNECT_BOUNCER: refusal('relayUnreachable'),
  INTERNAL_SERVER_ERROR_ON_BOUNCER: refusal('relayBroken'),
  BAD_IMAGE: refusal('badImage', {
    reason: 'The file is not a PNG, GIF, WebP or JPEG image that can be read.',
  }),
  REALM_UPLOAD_QUOTA: refusal('uploadQuotaReached'),
  INVITATION_FAILED: refusal('invitationFailed', {
    errors: [['ada@example.com', 'This address already has an account.', false]],
    sent: true,
  }),
  CHANNEL_ALREADY_EXISTS: refusal('channelExists', { name: 'general' }),
  STREAM_DOES_NOT_EXIST: refusal('channelDoesNotExist', { name: 'sailing' }),
  CANNOT_DEACTIVATE_LAST_USER: refusal('lastOwnerStays'),
  CANNOT_ADMINISTER_CHANNEL: refusal('cannotAdministerChannel'),
  STREAM_WILDCARD_MENTION_NOT_ALLOWED: refusal('channelWildcardRefused'),
  TOPIC_WILDCARD_MENTION_NOT_ALLOWED: refusal('topicWildcardRefused'),
  EXPECTATION_MISMATCH: refusal('expectationMismatch'),
  SYSTEM_GROUP_REQUIRED: refusal('systemGroupRequired', { setting: 'can_access_all_users_group' }),
  CANNOT_DEACTIVATE_GROUP_IN_USE: refusal('groupInUse', {
    objections: [{ type: 'subgroup', supergroup_ids: [21] }],
  }),
  REACTION_ALREADY_EXISTS: refusal('reactionExists'),
  REACTION_DOES_NOT_EXIST: refusal('reactionDoesNotExist'),
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: refusal('moveTimeLimit', { first: 117, total: 3, allowed: 2 }),
  BAD_NARROW: refusal('badNarrow', { desc: "unknown operator 'colour'" }),
  BAD_EVENT_QUEUE_ID: refusal('badQueue', { queueId: 'gone' }),
  RATE_LIMIT_HIT: refusal('tooMuchAtOnce', { seconds: 2 }),
};

const error = (code: Code, msg: string, fields = {}) => ({
  value: { result: 'error', msg, code, ...fields },
});
const shown = ({ code, message, fields }: Refusal) => error(code, message, fields);

/** Examples of errors, by their names in the document. */
export const errorExamples: Readonly<Record<string, { readonly value: object }>> = {
  ...Object.fromEntries(Object.entries(refusals).map(([code, one]) => [code, shown(one)])),
  'UNAUTHORIZED_PRINCIPAL.owner': shown(refusal('notOwner')),
  'BAD_REQUEST.404': shown(refusal('emojiDoesNotExist', { name: 'party' })),
  // The texts of the gateway, and of unexpected exceptions.
  'BAD_REQUEST.413': error('BAD_REQUEST', 'The request is too large.'),
  INTERNAL_SERVER_ERROR: error('INTERNAL_SERVER_ERROR', 'Something went wrong here; it has been reported.'),
};

/** The name of the example of a code with this status, from an endpoint for these callers. */
export const errorExampleName = (code: string, status: number, who: AllowedCallers): string =>
  [`${code}.${status}`, `${code}.${who}`].find((name) => name in errorExamples) ?? code;
