import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everySetting, wholeStack } from '../support/whole-stack.ts';

export interface StackRow {
  /** What the operator has set. */
  readonly settings: 'none' | 'all';
  /** Resources of CloudFormation. */
  readonly resources: number;
}

/** Counts the resources of the stack: with nothing set, and with everything that can be set. */
export async function measureStack(): Promise<readonly StackRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-bench-stack-'));
  const rowOf = (settings: StackRow['settings'], context: Readonly<Record<string, string>>): StackRow => ({
    settings,
    resources: Object.keys(wholeStack(join(folder, settings), context).resources).length,
  });
  try {
    return [rowOf('none', {}), rowOf('all', everySetting)];
  } finally {
    await rm(folder, { recursive: true });
  }
}
