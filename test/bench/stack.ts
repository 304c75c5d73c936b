import { everySetting, wholeStack } from '../support/whole-stack.ts';

export interface StackRow {
  /** What the operator has set. */
  readonly settings: 'none' | 'all';
  /** Resources of CloudFormation. */
  readonly resources: number;
}

/** Counts the resources of the stack: with nothing set, and with everything that can be set. */
export function measureStack(): readonly StackRow[] {
  const rowOf = (settings: StackRow['settings'], context: Readonly<Record<string, string>>): StackRow => ({
    settings,
    resources: Object.keys(wholeStack(context).resources).length,
  });
  return [rowOf('none', {}), rowOf('all', everySetting)];
}
