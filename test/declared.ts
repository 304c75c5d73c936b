import { expect } from 'vitest';
import type { Endpoint } from '../shared/endpoints/endpoint.ts';

/** Codes that every endpoint can answer with, whatever its own rules. */
const SHARED = new Set([
  'BAD_REQUEST',
  'REQUEST_VARIABLE_MISSING',
  'REQUEST_CONFUSING_VAR',
  'UNAUTHORIZED',
  'NONEXISTENT_SUBDOMAIN',
  // Only faults of the store lead here; tests that inject none expect another status.
  'INTERNAL_SERVER_ERROR',
]);

const mayRefusePrincipals = ({ who }: Endpoint): boolean => who === 'administrator' || who === 'owner';

/**
 * Holds every reply of every test to its endpoint's declaration: no field and no code that is not declared, and
 * no declared field missing or of another type.
 */
export function checkReply(
  endpoint: Endpoint,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const { result, msg, code, ignored_parameters_unsupported, ...fields } = body as Record<string, unknown>;
  if (status === 200) {
    expect({ result, msg }, endpoint.id).toEqual({ result: 'success', msg: '' });
    const parsed = endpoint.reply.safeParse(fields);
    expect(parsed.error?.issues ?? [], `${endpoint.id}: the reply is not as declared`).toEqual([]);
    expect(fields, `${endpoint.id}: the reply has fields that are not declared`).toEqual(parsed.data);
    return;
  }
  expect({ result, msg: typeof msg }, endpoint.id).toEqual({ result: 'error', msg: 'string' });
  const declared = SHARED.has(String(code)) || endpoint.errors.some((known) => known === code);
  const principal = code === 'UNAUTHORIZED_PRINCIPAL' && mayRefusePrincipals(endpoint);
  expect(declared || principal, `${endpoint.id}: the code ${code} is not declared`).toBe(true);
}
