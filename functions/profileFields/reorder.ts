import { changeFields, loadProfileFields } from '../../shared/domain/profile/field.ts';
import { checkFieldOrder } from '../../shared/domain/profile/field-check.ts';
import { reorderProfileFields } from '../../shared/endpoints/profile-fields.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(reorderProfileFields, {
  load: ({ outside, realm }) => loadProfileFields(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, fields) =>
    changeFields(commit, realm, fields, checkFieldOrder(input.order, fields)),
});
