import type { AllowedCallers } from '../endpoints/endpoint.ts';
import { type Refusal, refusal } from '../kernel/errors.ts';
import type { Code } from './errors.ts';

/**
 * One refusal of each code, made by the very table from which the service refuses, so that its words and fields are
 * those that clients get. Tests provoke them (`test/openapi/refusals.test.ts`).
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
  STREAM_DOES_NOT_EXIST: refusal('channelDoesNotExist', { name: 'sailing' }),
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
  BAD_NARROW: refusal('badNarrow', { desc: "there is no operator 'colour'" }),
  BAD_EVENT_QUEUE_ID: refusal('badQueue', { queueId: 'gone' }),
  RATE_LIMIT_HIT: refusal('tooMuchAtOnce', { seconds: 2 }),
};

const error = (code: Code, msg: string, fields = {}) => ({
  value: { result: 'error', msg, code, ...fields },
});
const shown = ({ code, message, fields }: Refusal) => error(code, message, fields);

/** Errors as clients get them, by their names among the examples of the document. */
export const errorExamples: Readonly<Record<string, { readonly value: object }>> = {
  ...Object.fromEntries(Object.entries(refusals).map(([code, one]) => [code, shown(one)])),
  'UNAUTHORIZED_PRINCIPAL.owner': shown(refusal('notOwner')),
  'BAD_REQUEST.404': shown(refusal('emojiDoesNotExist', { name: 'party' })),
  // In the words of the gateway, and in those for what nobody planned.
  'BAD_REQUEST.413': error('BAD_REQUEST', 'The request is too large.'),
  INTERNAL_SERVER_ERROR: error('INTERNAL_SERVER_ERROR', 'Something went wrong here; it has been reported.'),
};

/** The name of the example of a code that comes with this status from an endpoint for these callers. */
export const errorExampleName = (code: string, status: number, who: AllowedCallers): string =>
  [`${code}.${status}`, `${code}.${who}`].find((name) => name in errorExamples) ?? code;
