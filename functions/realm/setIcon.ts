import { iconImage } from '../../shared/adapters/image.ts';
import { loadDecoder } from '../../shared/adapters/image-decoder.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { replaceRealmPicture } from '../../shared/domain/realm-edit/pictures.ts';
import { setIcon } from '../../shared/endpoints/realm-pictures.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  setIcon,
  {
    load: () => loadDecoder(),
    reserve: 1,
    run: async (request, decoder) => ({
      icon_url: await replaceRealmPicture(request, 'icon', request.file.bytes, (file) =>
        iconImage(decoder, file),
      ),
    }),
  },
  { objects: s3Objects },
);
