import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientOptions } from '../aws/client-options.ts';
import { type Environment, required, variable } from '../environment.ts';
import type { Secrets } from '../kernel/outside.ts';

/** A secret that was read is used for this long (ms), so that a changed one is soon everywhere. */
const KEPT = 5 * 60_000;

/** The secrets that a function may read, by the names of its declaration. */
export function awsSecrets(environment: Environment): Secrets {
  const client = new SecretsManagerClient(clientOptions(environment, 'SECRETS_MANAGER'));
  const kept = new Map<string, { readonly value: string; readonly until: number }>();
  return {
    async get(name) {
      const known = kept.get(name);
      if (known && known.until > Date.now()) return known.value;
      try {
        const { SecretString } = await client.send(
          new GetSecretValueCommand({ SecretId: required(environment, variable('SECRET', name)) }),
        );
        if (!SecretString) return undefined;
        kept.set(name, { value: SecretString, until: Date.now() + KEPT });
        return SecretString;
      } catch (error) {
        // The stack makes secrets without a value; the operator gives them one.
        if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
        throw error;
      }
    },
  };
}
