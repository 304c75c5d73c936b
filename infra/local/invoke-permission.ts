import type { InvokePermission } from './template.ts';

/** Whether the template lets a service (as `events.amazonaws.com`) invoke a function for one of its resources. */
export const mayInvoke = (
  permissions: readonly InvokePermission[],
  functionName: string,
  principal: string,
  sourceArn: string,
): boolean =>
  permissions.some(
    (permission) =>
      permission.functionName === functionName &&
      permission.principal === principal &&
      permission.covers(sourceArn),
  );
