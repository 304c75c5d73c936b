/** The environment variables of a function, set by the stack and by Lambda. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable that the stack sets. Throws if it is missing: the function was deployed wrongly. */
export function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

/** The variable of a queue, a bucket or a secret: `QUEUE_MAIL_URL`. */
export const variable = (kind: 'QUEUE' | 'BUCKET' | 'SECRET', name: string): string =>
  [
    kind,
    name.replaceAll('-', '_').toUpperCase(),
    ...{ QUEUE: ['URL'], BUCKET: [], SECRET: ['ARN'] }[kind],
  ].join('_');
