import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { clientOptions } from '../aws/client-options.ts';
import { type Environment, required } from '../environment.ts';
import type { Vault } from '../kernel/outside.ts';

/** Seals with the service's own key, which never leaves AWS's key service. */
export function kmsVault(environment: Environment): Vault {
  const client = new KMSClient(clientOptions(environment, 'KMS'));
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
