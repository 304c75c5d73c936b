import { doCreateField, loadProfileFields } from '../../shared/domain/profile/field.ts';
import { checkNewField } from '../../shared/domain/profile/field-check.ts';
import { createProfileField } from '../../shared/endpoints/profile-fields.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(createProfileField, {
  load: ({ outside, realm }) => loadProfileFields(outside.table, realm),
  reserve: 1,
  run: ({ input, realm, commit }, fields) => {
    const field = checkNewField(input.field_type, input, fields);
    return commit(1, ([fieldId]) => doCreateField(realm, fields, fieldId as number, field));
  },
});
