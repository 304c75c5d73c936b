import { changeFields, loadProfileFields } from '../../shared/domain/profile/field.ts';
import { checkFieldRemoval } from '../../shared/domain/profile/field-check.ts';
import { deleteProfileField } from '../../shared/endpoints/profile-fields.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(deleteProfileField, {
  load: ({ outside, realm }) => loadProfileFields(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, fields) =>
    changeFields(commit, realm, fields, checkFieldRemoval(input.field_id, fields)),
});
