import { type FilePath, parsePathId } from './path.ts';

/** The parts of a file's path, as a request has them. */
interface PathParameters {
  readonly realm_id: string;
  readonly shard: string;
  readonly token: string;
  readonly name: string;
}

/** The path of the file that a request is about; undefined if no file can have it. */
export const pathIn = ({ realm_id, shard, token, name }: PathParameters): FilePath | undefined =>
  parsePathId([realm_id, shard, token, name].join('/'));
