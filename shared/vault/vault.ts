import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { type Environment, required } from '../domain/environment.ts';
import type { Vault } from '../domain/outside.ts';

/** A single try gives up after this long (ms). */
const REQUEST_TIMEOUT = 2_000;

/** Seals with the service's own key, which never leaves AWS's key service. */
export function kmsVault(environment: Environment): Vault {
  const endpoint = environment.AWS_ENDPOINT_URL_KMS;
  const client = new KMSClient({
    ...(endpoint !== undefined && { endpoint }),
    region: environment.AWS_REGION ?? 'us-east-1',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: REQUEST_TIMEOUT,
      throwOnRequestTimeout: true,
      socketTimeout: REQUEST_TIMEOUT,
    },
  });
  return {
    async seal(text, context) {
      const { CiphertextBlob } = await client.send(
        new EncryptCommand({
          KeyId: required(environment, 'KEY_ARN'),
          Plaintext: Buffer.from(text),
          EncryptionContext: { ...context },
        }),
      );
      return Buffer.from(CiphertextBlob ?? []).toString('base64');
    },
    async open(sealed, context) {
      const { Plaintext } = await client.send(
        new DecryptCommand({
          KeyId: required(environment, 'KEY_ARN'),
          CiphertextBlob: Buffer.from(sealed, 'base64'),
          EncryptionContext: { ...context },
        }),
      );
      return Buffer.from(Plaintext ?? []).toString();
    },
  };
}
