import { fieldObjects, loadProfileFields } from '../../shared/domain/profile/field.ts';
import { listProfileFields } from '../../shared/endpoints/profile-fields.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listProfileFields, {
  load: ({ outside, realm }) => loadProfileFields(outside.table, realm),
  run: (_, { fields }) => ({ custom_fields: fieldObjects(fields) }),
});
