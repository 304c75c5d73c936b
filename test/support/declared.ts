import { expect } from 'vitest';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { getEvents } from '../../shared/endpoints/events.ts';
import { codesOf, errorFields, generalCodes, statusesOf } from '../../shared/openapi/errors.ts';
import { eventKind, eventShapes } from '../../shared/openapi/event-shapes.ts';

/**
 * Holds every reply of every test to what the OpenAPI document says of its endpoint: no field, status and code that is
 * not declared, and no declared field missing or of another type; and so each event of `GET /events`.
 */
export function checkReply(
  endpoint: Endpoint,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const { result, msg, code, ignored_parameters_unsupported, ...fields } = body as Record<string, unknown>;
  const { id, reply } = endpoint;
  if (status === 200) {
    expect({ result, msg }, id).toEqual({ result: 'success', msg: '' });
    expectAsDeclared(`the reply of ${id}`, reply, fields);
    if (id === getEvents.id) (fields.events as Event[]).forEach(checkEvent);
    return;
  }
  expect({ result, msg: typeof msg }, id).toEqual({ result: 'error', msg: 'string' });
  // Only faults of the store lead here; tests that inject none expect another status.
  if (code === 'INTERNAL_SERVER_ERROR') return;
  const known = [...codesOf(endpoint), ...generalCodes].find((one) => one === code);
  if (known === undefined) throw new Error(`${id}: the code ${code} is not declared`);
  expect(statusesOf(known, endpoint), `${id}: the status ${status} does not go with ${code}`).toContain(
    status,
  );
  expectAsDeclared(`the error ${code} of ${id}`, errorFields(known), fields);
}

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** Events that only the oracle of the log commits (`test/log/oracle.test.ts`). */
const OF_THE_ORACLE: ReadonlySet<string> = new Set(['news', 'end']);

function checkEvent(event: Event): void {
  const kind = eventKind(event);
  if (OF_THE_ORACLE.has(kind)) return;
  const shape = eventShapes[kind];
  if (shape === undefined) throw new Error(`there is no shape for events of the kind ${kind}`);
  expectAsDeclared(`an event of the kind ${kind}`, shape, event);
}

function expectAsDeclared(what: string, shape: Endpoint['reply'], value: object): void {
  const parsed = shape.safeParse(value);
  expect(parsed.error?.issues ?? [], `${what} is not as declared`).toEqual([]);
  expect(value, `${what} has fields that are not declared`).toEqual(parsed.data);
}
