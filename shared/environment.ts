/** The environment of a function: what the stack tells it, and what Lambda does. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the stack tells under this name. A function without it was deployed wrongly, which no request can mend. */
export function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

/** The name under which the environment tells of a queue, a bucket or a secret: `QUEUE_MAIL_URL`. */
export const variable = (kind: 'QUEUE' | 'BUCKET' | 'SECRET', name: string): string =>
  [
    kind,
    name.replaceAll('-', '_').toUpperCase(),
    ...{ QUEUE: ['URL'], BUCKET: [], SECRET: ['ARN'] }[kind],
  ].join('_');
