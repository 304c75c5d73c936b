import { loadProfileFields } from '../../shared/domain/profile/profile-field.ts';
import { checkFieldEdit } from '../../shared/domain/profile/profile-field-check.ts';
import { changeFields } from '../../shared/domain/profile/profile-field-do.ts';
import { updateProfileField } from '../../shared/endpoints/profile-fields.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(updateProfileField, {
  load: ({ outside, realm }) => loadProfileFields(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, fields) =>
    changeFields(commit, realm, fields, checkFieldEdit(input.field_id, input, fields)),
});
