import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { clientOptions } from '../aws/client-options.ts';
import { type Environment, required, variable } from '../environment.ts';
import type { Uploads } from '../kernel/outside.ts';

/** How long (ms) a part of some megabytes may take, its answer included. */
const REQUEST_TIMEOUT = 30_000;

/** S3 knows no such upload: it was ended, one way or the other. */
const isGone = (error: unknown): boolean => error instanceof Error && error.name === 'NoSuchUpload';

/** Uploads in parts to the buckets of a worker, which are found in its environment by the names of its declaration. */
export function s3Uploads(environment: Environment): Uploads {
  const client = new S3Client({
    ...clientOptions(environment, 'S3'),
    forcePathStyle: environment.AWS_ENDPOINT_URL_S3 !== undefined,
    // What is sent is signed with its digest. Checksums besides would have to be kept with the parts.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 2_000,
      requestTimeout: REQUEST_TIMEOUT,
      throwOnRequestTimeout: true,
      socketTimeout: REQUEST_TIMEOUT,
    },
  });
  const at = (bucket: string, key: string) => ({
    Bucket: required(environment, variable('BUCKET', bucket)),
    Key: key,
  });
  return {
    async begin(bucket, key, contentType) {
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ ...at(bucket, key), ContentType: contentType }),
      );
      if (UploadId === undefined) throw new Error('S3 began an upload without an id');
      return UploadId;
    },
    async putPart({ bucket, key, id }, number, bytes) {
      const { ETag } = await client.send(
        new UploadPartCommand({ ...at(bucket, key), UploadId: id, PartNumber: number, Body: bytes }),
      );
      if (ETag === undefined) throw new Error('S3 took a part without telling its mark');
      return ETag;
    },
    async complete({ bucket, key, id }, parts) {
      try {
        await client.send(
          new CompleteMultipartUploadCommand({
            ...at(bucket, key),
            UploadId: id,
            MultipartUpload: {
              Parts: parts.map(({ number, mark }) => ({ PartNumber: number, ETag: mark })),
            },
          }),
        );
      } catch (error) {
        if (!isGone(error)) throw error;
        await client.send(new HeadObjectCommand(at(bucket, key)));
      }
    },
    async abort({ bucket, key, id }) {
      try {
        await client.send(new AbortMultipartUploadCommand({ ...at(bucket, key), UploadId: id }));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },
  };
}
