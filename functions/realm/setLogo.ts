import { logoImage } from '../../shared/adapters/image.ts';
import { loadDecoder } from '../../shared/adapters/image-decoder.ts';
import { s3Objects } from '../../shared/adapters/objects.ts';
import { replaceRealmPicture } from '../../shared/domain/realm-edit/pictures.ts';
import { setLogo } from '../../shared/endpoints/realm-pictures.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(
  setLogo,
  {
    load: () => loadDecoder(),
    reserve: 1,
    run: async (request, decoder) => {
      const name = request.input.night ? 'night_logo' : 'logo';
      await replaceRealmPicture(request, name, request.file.bytes, (file) => logoImage(decoder, file));
      return {};
    },
  },
  { objects: s3Objects },
);
