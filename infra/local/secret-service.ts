import { createJsonService, type JsonService, ServiceError } from './json-service.ts';

/**
 * The part of AWS Secrets Manager that functions use: reading a secret.
 *
 * @param secrets By the last part of their names; one that the operator did not set has no value, as in AWS.
 */
export const createSecretService = (secrets: ReadonlyMap<string, string>): JsonService =>
  createJsonService('secretsmanager', {
    GetSecretValue: ({ SecretId }) => {
      const name = String(SecretId).split('/').at(-1) ?? '';
      const value = secrets.get(name);
      if (value === undefined) {
        throw new ServiceError('ResourceNotFoundException', 'The secret has no value.');
      }
      return { ARN: SecretId, Name: name, SecretString: value };
    },
  });
