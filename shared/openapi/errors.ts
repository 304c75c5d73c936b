import * as z from 'zod/mini';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type ErrorCode, problems } from '../kernel/errors.ts';

/** Codes that any request may meet, whatever it asks for: too many at once, and a fault of ours. */
export const generalCodes = ['RATE_LIMIT_HIT', 'INTERNAL_SERVER_ERROR'] as const;

/** A code of the wire, whoever answers with it. */
export type Code = ErrorCode | (typeof generalCodes)[number];

/** What an error of this code carries besides `result`, `msg` and `code` (specification 7, wire facts 1.3). */
const fields: Partial<Record<Code, Readonly<Record<string, z.ZodMiniType>>>> = {
  BAD_REQUEST: { parameters: z.optional(z.string()) },
  REQUEST_VARIABLE_MISSING: { var_name: z.string() },
  REQUEST_CONFUSING_VAR: { var_name1: z.string(), var_name2: z.string() },
  REQUEST_VARIABLE_INVALID: { var_name: z.string(), bad_value: z.union([z.string(), z.int()]) },
  STREAM_DOES_NOT_EXIST: { stream: z.optional(z.string()), stream_id: z.optional(z.int()) },
  EXPECTATION_MISMATCH: { field_name: z.enum(['old', 'prev_content_sha256']) },
  SYSTEM_GROUP_REQUIRED: { setting_name: z.string() },
  CANNOT_DEACTIVATE_GROUP_IN_USE: { objections: z.array(z.looseObject({ type: z.string() })) },
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: {
    first_message_id_allowed_to_move: z.int(),
    total_messages_in_topic: z.int(),
    total_messages_allowed_to_move: z.int(),
  },
  BAD_NARROW: { desc: z.string() },
  BAD_EVENT_QUEUE_ID: { queue_id: z.string() },
  RATE_LIMIT_HIT: { 'retry-after': z.number() },
};

/** The fields of an error besides the envelope, and none but these. */
export const errorFields = (code: Code): z.ZodMiniType => z.strictObject(fields[code] ?? {});

/** The whole error as clients get it. */
export const errorShape = (code: Code): z.ZodMiniType =>
  z.object({ result: z.literal('error'), msg: z.string(), code: z.literal(code), ...fields[code] });

/** Codes that every endpoint can answer with, whatever its own rules. */
const everywhere: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'REQUEST_VARIABLE_MISSING',
  'REQUEST_CONFUSING_VAR',
  'UNAUTHORIZED',
  'NONEXISTENT_SUBDOMAIN',
];

/** Every code that an endpoint can answer with: those of its own rules, and those that follow from who may call. */
export const codesOf = ({ errors, access }: Pick<Endpoint, 'errors' | 'access'>): readonly ErrorCode[] => [
  ...new Set([
    ...everywhere.filter((code) => access !== 'anyone' || code !== 'UNAUTHORIZED'),
    ...(access === 'administrator' || access === 'owner' ? (['UNAUTHORIZED_PRINCIPAL'] as const) : []),
    ...errors,
  ]),
];

/** A path that has something else than digits in the place of an ID is answered like one that does not exist. */
const hasPathId = (parameters: Endpoint['parameters']): boolean =>
  Object.values(parameters).some(({ wire }) => wire === 'digits');

/** The statuses with which a code may come from an endpoint. */
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
