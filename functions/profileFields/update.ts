import { changeFields, loadProfileFields } from '../../shared/domain/profile/field.ts';
import { checkFieldEdit } from '../../shared/domain/profile/field-check.ts';
import { updateProfileField } from '../../shared/endpoints/profile-fields.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(updateProfileField, {
  load: ({ outside, realm }) => loadProfileFields(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, fields) =>
    changeFields(commit, realm, fields, checkFieldEdit(input.field_id, input, fields)),
});
