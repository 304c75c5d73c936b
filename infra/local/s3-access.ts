import type { Access } from './iam.ts';

/** The parts of a request to S3 that decide which permissions it needs. */
export interface S3Request {
  readonly method: string;
  /** The path, percent-encoded, with the bucket as its first segment. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The header `x-amz-copy-source`. */
  readonly copySource: string | undefined;
  /** The body, which only a deletion of many objects needs for its permissions. */
  readonly body: string;
}

/** Parts of a bucket or an object that the query asks for by their name alone, and their permissions. */
const bucketParts: Readonly<Record<string, string>> = {
  location: 'BucketLocation',
  lifecycle: 'LifecycleConfiguration',
  policy: 'BucketPolicy',
  versioning: 'BucketVersioning',
};
const objectParts: Readonly<Record<string, string>> = { tagging: 'ObjectTagging', acl: 'ObjectAcl' };

/**
 * What IAM has to allow for a request to S3 (path style). A multipart upload is a `PutObject` in all its steps but
 * the one that gives it up; a copy also reads its source.
 */
export function s3Access(request: S3Request): Access[] {
  const [bucket = '', ...rest] = request.path.slice(1).split('/').map(decodeURIComponent);
  const key = rest.join('/');
  const bucketArn = `arn:aws:s3:::${bucket}`;
  if (bucket === '') return [{ action: 's3:ListAllMyBuckets', resource: '*' }];
  if (isBulkDeletion(request)) {
    return keysOf(request.body).map((deleted) => ({
      action: 's3:DeleteObject',
      resource: `${bucketArn}/${deleted}`,
    }));
  }
  if (key === '') return [{ action: `s3:${bucketAction(request)}`, resource: bucketArn }];
  const access = [{ action: `s3:${objectAction(request)}`, resource: `${bucketArn}/${key}` }];
  if (request.copySource === undefined) return access;
  const source = decodeURIComponent(request.copySource).replace(/^\//, '').split('?')[0];
  return [...access, { action: 's3:GetObject', resource: `arn:aws:s3:::${source}` }];
}

/** A request that reads one object, and so would tell whether it exists. */
export const readsObject = ({ method, path }: Pick<S3Request, 'method' | 'path'>): boolean =>
  (method === 'GET' || method === 'HEAD') && /^\/[^/]+\/./.test(path);

/** A request that deletes the objects named in its body. */
export const isBulkDeletion = ({ method, query }: Pick<S3Request, 'method' | 'query'>): boolean =>
  method === 'POST' && query.has('delete');

function bucketAction({ method, query }: S3Request): string {
  const part = Object.keys(bucketParts).find((name) => query.has(name));
  if (part) return `${method === 'GET' ? 'Get' : 'Put'}${bucketParts[part]}`;
  if (method === 'PUT') return 'CreateBucket';
  if (method === 'DELETE') return 'DeleteBucket';
  if (method === 'POST') return 'PutObject';
  return query.has('uploads') ? 'ListBucketMultipartUploads' : 'ListBucket';
}

function objectAction({ method, query }: S3Request): string {
  const part = Object.keys(objectParts).find((name) => query.has(name));
  const upload = query.has('uploadId');
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (part) return `Get${objectParts[part]}`;
      if (upload) return 'ListMultipartUploadParts';
      return query.has('attributes') ? 'GetObjectAttributes' : 'GetObject';
    case 'DELETE':
      if (part) return `Delete${objectParts[part]}`;
      return upload ? 'AbortMultipartUpload' : 'DeleteObject';
    default:
      return part ? `Put${objectParts[part]}` : 'PutObject';
  }
}

/** The keys in the XML that asks for a deletion of many objects. */
function keysOf(xml: string): string[] {
  const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
  return [...xml.matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key = '']) =>
    key.replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => entities[name] ?? ''),
  );
}
