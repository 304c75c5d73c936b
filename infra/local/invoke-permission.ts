import { evaluate } from './iam.ts';
import type { InvokePermission } from './template.ts';
import type { FunctionIntegration } from './template-api.ts';
import type { Role } from './template-roles.ts';

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

/** Whether the gateway may take the role that an integration names, and by it call the function. */
export const roleMayInvoke = (
  roles: ReadonlyMap<string, Role>,
  { functionArn, credentials }: FunctionIntegration,
): boolean => {
  const role = roles.get(credentials);
  const access = { action: 'lambda:InvokeFunction', resource: functionArn };
  return (
    role?.trusted.includes('apigateway.amazonaws.com') === true &&
    evaluate(role.statements, access) === 'allowed'
  );
};
