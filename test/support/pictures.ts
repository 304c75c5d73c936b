import { crc32 } from 'node:zlib';
import sharp from 'sharp';

const colours = ['#d33', '#3d3', '#33d'] as const;

const square = (colour: string, width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: colour } });

/** An image of one colour. */
export const picture = (
  format: 'png' | 'jpeg' | 'gif' | 'webp',
  width = 200,
  height = 100,
): Promise<Buffer> => square(colours[0], width, height).toFormat(format).toBuffer();

/** An image whose frames are red, green and blue, a second each. */
export async function movingPicture(format: 'gif' | 'webp', size = 80): Promise<Buffer> {
  const frames = await Promise.all(colours.map((colour) => square(colour, size, size).png().toBuffer()));
  const joined = sharp(frames, { join: { animated: true } });
  return format === 'gif'
    ? joined.gif({ delay: [1000, 1000, 1000] }).toBuffer()
    : joined.webp({ delay: [1000, 1000, 1000], lossless: true }).toBuffer();
}

/** A PNG whose header says that it is as large as this, and that has the pixels of a small one. */
export async function pngThatSays(width: number, height: number): Promise<Buffer> {
  const file = await picture('png', 8, 8);
  // The first chunk begins after the signature (8 bytes) and its own length (4): type, sizes, format, checksum.
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
  return file;
}

/** A GIF of so many frames of one pixel, 23 bytes each, on a square screen with sides of `size` pixels. */
export function tinyFrames(count: number, size = 1): Buffer {
  const sides = [size & 0xff, size >> 8, size & 0xff, size >> 8];
  const screen = [...sides, 0x80, 0, 0, 255, 0, 0, 0, 0, 255];
  const frame = Buffer.from([
    ...[0x21, 0xf9, 4, 0, 2, 0, 0, 0],
    ...[0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0],
    ...[2, 2, 0x44, 1, 0],
  ]);
  const frames = Array.from({ length: count }, () => frame);
  return Buffer.concat([Buffer.from('GIF89a'), Buffer.from(screen), ...frames, Buffer.from([0x3b])]);
}

/** What is in an image, and the colour in the middle of each of its frames. */
export async function seen(bytes: Uint8Array): Promise<{ kind: string; size: string; middles: string[] }> {
  const { format, width, height, pages = 1 } = await sharp(bytes).metadata();
  const middles = await Promise.all(
    Array.from({ length: pages }, async (_, page) => {
      const raw = await sharp(bytes, { page })
        .extract({ left: 32, top: 32, width: 1, height: 1 })
        .removeAlpha()
        .raw()
        .toBuffer();
      const strongest = [...raw].indexOf(Math.max(...raw));
      return ['red', 'green', 'blue'][strongest] ?? 'none';
    }),
  );
  return { kind: String(format), size: `${width}x${height}`, middles };
}
