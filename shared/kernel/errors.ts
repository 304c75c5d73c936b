/**
 * Every refusal that a caller can get: code, status and sentence (specification 7, wire facts 1.3). Any other error is a
 * 500 without details for the client, and with all details in the log.
 */
interface Problem<D> {
  readonly code: string;
  readonly status: number;
  /** The sentence for people, made from the data. Never names what the caller may not see. */
  readonly message: (data: D) => string;
  /** Fields of the envelope in addition to `result`, `msg` and `code`. */
  readonly fields?: (data: D) => Readonly<Record<string, unknown>>;
}

const problem = <const C extends string, D = undefined>(
  code: C,
  status: number,
  message: string | ((data: D) => string),
  fields?: (data: D) => Readonly<Record<string, unknown>>,
): Problem<D> & { readonly code: C } => ({
  code,
  status,
  message: typeof message === 'string' ? () => message : message,
  ...(fields && { fields }),
});

/** An address that could not be invited, why, and whether it has a deactivated account. */
export type InvitationError = readonly [address: string, reason: string, isDeactivated: boolean];

export const problems = {
  // Requests in general: wire facts 1.3.
  badRequest: problem('BAD_REQUEST', 400, (d: { reason: string }) => d.reason),
  requestTooLarge: problem('BAD_REQUEST', 413, 'The request is too large.'),
  missingParameter: problem(
    'REQUEST_VARIABLE_MISSING',
    400,
    (d: { name: string }) => `The parameter '${d.name}' is required.`,
    (d) => ({ var_name: d.name }),
  ),
  confusingParameter: problem(
    'REQUEST_CONFUSING_VAR',
    400,
    (d: { first: string; second: string }) => `Send either '${d.first}' or '${d.second}', not both.`,
    (d) => ({ var_name1: d.first, var_name2: d.second }),
  ),
  invalidParameter: problem(
    'REQUEST_VARIABLE_INVALID',
    400,
    (d: { name: string; value: string | number }) => `'${d.value}' is not a value for '${d.name}'.`,
    (d) => ({ var_name: d.name, bad_value: d.value }),
  ),
  incompatibleParameters: problem(
    'BAD_REQUEST',
    400,
    (d: { parameters: readonly string[] }) => `Invalid parameters together: ${d.parameters.join(', ')}.`,
    (d) => ({ parameters: d.parameters.join(', ') }),
  ),
  /** Linkifiers and playgrounds (companion facts 4.1): what is wrong, by field. */
  invalidFields: problem(
    'BAD_REQUEST',
    400,
    (d: { errors: Readonly<Record<string, readonly string[]>> }) => Object.values(d.errors).flat()[0] ?? '',
    (d) => ({ errors: d.errors }),
  ),
  unauthorized: problem('UNAUTHORIZED', 401, 'The email address or the API key is not valid.'),
  noCredentials: problem('UNAUTHORIZED', 401, 'This request needs an email address and an API key.'),
  unsupportedScheme: problem('BAD_REQUEST', 400, 'Only HTTP Basic authentication is supported.'),
  notAdministrator: problem('UNAUTHORIZED_PRINCIPAL', 400, 'Only organization administrators may do this.'),
  notOwner: problem('UNAUTHORIZED_PRINCIPAL', 400, 'Only organization owners may do this.'),
  guestsMayNot: problem('BAD_REQUEST', 400, 'Guests may not do this.'),
  onlyBots: problem('PERMISSION_DENIED', 400, 'Only bots may do this.'),
  botsMayNot: problem('BAD_REQUEST', 400, 'Bots may not do this.'),
  insufficientPermission: problem('BAD_REQUEST', 400, 'You do not have permission to do this.'),
  // Signing in: companion facts 3.12. One text for a wrong password and an unknown account.
  wrongPassword: problem('AUTHENTICATION_FAILED', 401, 'The email address or the password is not valid.'),
  userDeactivated: problem('USER_DEACTIVATED', 401, 'This account is deactivated.'),
  organizationDeactivated: problem('REALM_DEACTIVATED', 401, 'This organization is out of service.'),
  noSuchAddress: problem('BAD_REQUEST', 404, 'There is no such address in this API.'),
  unknownOrganization: problem('NONEXISTENT_SUBDOMAIN', 404, 'There is no organization at this address.'),

  // No room for it now: docs/LIMITS.md.
  tooMuchAtOnce: problem(
    'RATE_LIMIT_HIT',
    429,
    (_: { seconds: number }) => 'There is too much going on here at once; wait a moment and try again.',
    (d) => ({ 'retry-after': d.seconds }),
  ),

  searchNotReady: problem(
    'RATE_LIMIT_HIT',
    429,
    (_: { seconds: number }) => 'The messages here are still being indexed; search again in a moment.',
    (d) => ({ 'retry-after': d.seconds }),
  ),

  tooManyRequests: problem(
    'RATE_LIMIT_HIT',
    429,
    (d: { seconds: number }) =>
      `You have sent too many requests; try again in ${Math.ceil(d.seconds)} seconds.`,
    (d) => ({ 'retry-after': d.seconds }),
  ),
  noCallToken: problem(
    'INVALID_VIDEO_CALL_PROVIDER_TOKEN',
    400,
    'The provider of video calls needs your consent first, or once more.',
  ),
  // Push notifications: specification 7, wire facts 12.
  noPushService: problem(
    'PUSH_SERVICE_NOT_CONFIGURED',
    400,
    'Push notifications are not set up on this server.',
  ),
  noPushDevice: problem(
    'NO_ACTIVE_PUSH_DEVICE',
    400,
    'There is no device that push notifications could be sent to.',
  ),
  invalidPushToken: problem(
    'INVALID_PUSH_DEVICE_TOKEN',
    400,
    'No device of yours has this token for push notifications.',
  ),
  pushAdminNeeded: problem(
    'ADMIN_ACTION_REQUIRED',
    403,
    'Push notifications do not work until an administrator of this server sees to them.',
  ),
  relayUnreachable: problem(
    'FAILED_TO_CONNECT_BOUNCER',
    502,
    'The relay for push notifications could not be reached.',
  ),
  relayBroken: problem(
    'INTERNAL_SERVER_ERROR_ON_BOUNCER',
    502,
    'The relay for push notifications has an error of its own.',
  ),
  badImage: problem('BAD_IMAGE', 400, (d: { reason: string }) => d.reason),
  // Uploads: companion facts 1.1.
  uploadQuotaReached: problem('REALM_UPLOAD_QUOTA', 400, 'This organization has no space left for files.'),
  noFileAccess: problem('BAD_REQUEST', 403, 'You may not see this file.'),
  noSuchFile: problem('BAD_REQUEST', 404, 'There is no such file.'),
  // The only user of an organization is its only owner too.
  lastOwnerStays: problem(
    'CANNOT_DEACTIVATE_LAST_USER',
    400,
    'You are the only owner of this organization: make somebody else an owner first.',
    () => ({ is_last_owner: true, entity: 'organization owner' }),
  ),
  scheduledDoesNotExist: problem('BAD_REQUEST', 404, 'There is no such scheduled message.'),
  reminderDoesNotExist: problem('BAD_REQUEST', 404, 'There is no such reminder.'),
  draftDoesNotExist: problem('BAD_REQUEST', 404, 'There is no such draft.'),
  viewDoesNotExist: problem('BAD_REQUEST', 404, 'There is no such navigation view.'),
  snippetDoesNotExist: problem('BAD_REQUEST', 404, 'There is no such saved snippet.'),
  emojiDoesNotExist: problem(
    'BAD_REQUEST',
    404,
    (d: { name: string }) => `There is no emoji named '${d.name}'.`,
  ),

  // Invitations: companion facts 3.8.
  invitationFailed: problem(
    'INVITATION_FAILED',
    400,
    (d: { errors: readonly InvitationError[]; sent: boolean }) =>
      d.sent ? 'Some of these people already have accounts; all others were invited.' : 'Nobody was invited.',
    ({ errors, sent }) => ({
      errors,
      sent_invitations: sent,
      license_limit_reached: false,
      daily_limit_reached: false,
    }),
  ),

  // Channels.
  channelDoesNotExist: problem(
    'STREAM_DOES_NOT_EXIST',
    400,
    (d: { name: string }) => `There is no channel named '${d.name}'.`,
    (d) => ({ stream: d.name }),
  ),
  channelIdDoesNotExist: problem(
    'STREAM_DOES_NOT_EXIST',
    400,
    (d: { id: number }) => `There is no channel with the ID ${d.id}.`,
    (d) => ({ stream_id: d.id }),
  ),
  channelExists: problem(
    'CHANNEL_ALREADY_EXISTS',
    409,
    (d: { name: string }) => `There is already a channel named '${d.name}'.`,
  ),
  invalidChannelId: problem('BAD_REQUEST', 400, 'Invalid channel ID.'),
  cannotAdministerChannel: problem(
    'CANNOT_ADMINISTER_CHANNEL',
    400,
    'You do not have permission to administer this channel.',
  ),
  channelWildcardRefused: problem(
    'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
    400,
    'You may not notify everyone in a channel of this size.',
  ),
  topicWildcardRefused: problem(
    'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
    400,
    'You may not notify everyone in a topic with this many participants.',
  ),

  // Group-setting values: wire facts 4.5.
  expectationMismatch: problem(
    'EXPECTATION_MISMATCH',
    400,
    "The value given as 'old' is not the current value.",
    () => ({ field_name: 'old' }),
  ),
  systemGroupRequired: problem(
    'SYSTEM_GROUP_REQUIRED',
    400,
    (d: { setting: string }) => `The setting '${d.setting}' must be a system group.`,
    (d) => ({ setting_name: d.setting }),
  ),

  // User groups: wire facts 7.
  groupInUse: problem(
    'CANNOT_DEACTIVATE_GROUP_IN_USE',
    400,
    (_: { objections: readonly object[] }) => 'A group that is in use cannot be deactivated.',
    (d) => ({ objections: d.objections }),
  ),

  // Messages.
  invalidMessages: problem('BAD_REQUEST', 400, 'Invalid message(s).'),
  reactionExists: problem('REACTION_ALREADY_EXISTS', 400, 'You have reacted with this emoji already.'),
  reactionDoesNotExist: problem('REACTION_DOES_NOT_EXIST', 400, 'You have not reacted with this emoji.'),
  contentMismatch: problem(
    'EXPECTATION_MISMATCH',
    400,
    'The message has another content than the one that was expected.',
    () => ({ field_name: 'prev_content_sha256' }),
  ),
  moveTimeLimit: problem(
    'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    400,
    (d: { first: number; total: number; allowed: number }) =>
      `You may only move the ${d.allowed} newest of the ${d.total} messages in this topic.`,
    (d) => ({
      first_message_id_allowed_to_move: d.first,
      total_messages_in_topic: d.total,
      total_messages_allowed_to_move: d.allowed,
    }),
  ),
  badNarrow: problem(
    'BAD_NARROW',
    400,
    (d: { desc: string }) => `This narrow cannot be followed: ${d.desc}.`,
    (d) => ({ desc: d.desc }),
  ),

  // Events: wire facts 14.2.
  badQueue: problem(
    'BAD_EVENT_QUEUE_ID',
    400,
    (d: { queueId: string }) => `There is no event queue '${d.queueId}' for you; register again.`,
    (d) => ({ queue_id: d.queueId }),
  ),
} as const;

export type ProblemName = keyof typeof problems;
/** The machine-readable codes of the wire. */
export type ErrorCode = (typeof problems)[ProblemName]['code'];
type DataOf<N extends ProblemName> = Parameters<(typeof problems)[N]['message']>[0];

/** A planned refusal on its way to the envelope. Thrown by `access*` and `check*` verbs, caught once, in serve. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The field of a form that it is about, for pages (`inField`). */
  readonly field: string | undefined;

  constructor(
    code: ErrorCode,
    status: number,
    message: string,
    fields: Readonly<Record<string, unknown>>,
    field?: string,
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
    this.fields = fields;
    this.field = field;
  }
}

/** Makes the refusal of that name, with its data. Written `throw refusal('notOwner')`, so that control flow shows. */
export function refusal<N extends ProblemName>(
  name: N,
  ...data: DataOf<N> extends undefined ? [] : [DataOf<N>]
): Refusal {
  const found = problems[name] as unknown as Problem<unknown> & { code: ErrorCode };
  return new Refusal(found.code, found.status, found.message(data[0]), found.fields?.(data[0]) ?? {});
}

/** A `BAD_REQUEST` with a sentence of its own, for the many rules that have no code of their own. */
export const badRequest = (reason: string): Refusal => refusal('badRequest', { reason });

/** Runs a check of what was typed into a field of a form. A refusal then names the field. */
export async function inField<T>(field: string, check: () => T | Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, error.status, error.message, error.fields, field);
  }
}

/** The stack trace of an error, for the operator's log. */
export const traceOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
