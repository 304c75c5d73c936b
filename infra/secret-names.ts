/** A valid name of a secret in Secrets Manager. An ARN has colons and is not valid. */
export const SECRET_NAME = /^[A-Za-z0-9/_+=.@-]{1,512}$/;

/** The end of a name that looks like what Secrets Manager adds to it in the ARN. */
const SUFFIX = /-.{6}$/;

/** The name of one secret, and the value of CDK context that gave it. */
interface SecretName {
  readonly setting: string;
  readonly name: string;
  readonly isDefault: boolean;
}

/**
 * Refuses names that Secrets Manager could confuse, with each other or with a part of an ARN.
 *
 * @throws Error with the first invalid value
 */
export function checkSecretNames(given: readonly SecretName[]): void {
  const settings = new Map<string, string>();
  for (const { setting, name, isDefault } of given) {
    const other = settings.get(name);
    if (other !== undefined)
      throw new Error(`The context values ${other} and ${setting} cannot both be "${name}".`);
    settings.set(name, setting);
    // Two of the defaults end in `-secret`. Here every ARN is whole, so it only matters to what else may look for them.
    if (!isDefault && SUFFIX.test(name)) {
      throw new Error(
        `The context value ${setting} cannot be "${name}", as Secrets Manager itself ends ARNs of secrets with a hyphen and six characters.`,
      );
    }
  }
}
