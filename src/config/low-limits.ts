import { pointer as join, type Source } from '../yaml/source.js';
import type { Capability } from '../core/model.js';
import type { ModelEntry } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';

type Limits = NonNullable<PartialLoad<ModelEntry>['limits']>;

/** Warns of limits of a model that are most likely in another unit, as no model has so little. */
export function checkLow(
  source: Source,
  at: string,
  { limits, capabilities }: { limits: Limits; capabilities: ReadonlySet<Capability> },
): void {
  checkImagePixels(source, at, limits.image_pixels);
  checkMegapixel(source, at, limits.image_pixels);
  checkAudioSeconds(source, at, limits.audio_seconds);
  if (capabilities.has('chat')) checkThousands(source, at, limits);
}

/** The pixels of the smallest images that upstreams make, 256 by 256. */
const SMALL_IMAGE_PIXELS = 65_536;

/** Warns of fewer pixels than any image has: most likely they are the length of one side. */
function checkImagePixels(source: Source, at: string, image_pixels: number | undefined): void {
  if (image_pixels === undefined || image_pixels >= SMALL_IMAGE_PIXELS) return;
  const place = `${at}/image_pixels`;
  source.fault(place, {
    code: 'low_image_pixels',
    message: `limits.image_pixels: ${source.word(place)} is less than the smallest image has`,
    hint: 'write width times height: 1048576 for 1024x1024',
    severity: 'warning',
  });
}

/** Warns of a round million, which is less than the image of a megapixel has. */
function checkMegapixel(source: Source, at: string, image_pixels: number | undefined): void {
  if (image_pixels !== 1_000_000) return;
  source.fault(`${at}/image_pixels`, {
    code: 'low_image_pixels',
    message: 'limits.image_pixels: 1024x1024 has 1048576 pixels, so that size is refused',
    hint: 'write 1048576',
    severity: 'warning',
  });
}

/** Few recordings are shorter. */
const SHORT_AUDIO_SECONDS = 60;

/** Warns of a length of recordings that is most likely meant in minutes. */
function checkAudioSeconds(source: Source, at: string, seconds: number | undefined): void {
  const place = `${at}/audio_seconds`;
  if (seconds === undefined || seconds >= SHORT_AUDIO_SECONDS || source.hides(place)) return;
  source.fault(place, {
    code: 'small_limit',
    message: `limits.audio_seconds: recordings of more than ${seconds} seconds are refused`,
    hint: `if it is meant in minutes write ${seconds * 60}`,
    severity: 'warning',
  });
}

/** The least tokens of chat: fewer cut every answer after some words, and refuse most prompts. */
const FEW_TOKENS = { max_tokens: 64, context: 1_024 };

function checkThousands(source: Source, at: string, limits: Limits): void {
  const isOrdered = (limits.max_tokens ?? 0) <= (limits.context ?? Infinity);
  for (const key of ['max_tokens', 'context'] as const) {
    const tokens = limits[key];
    const place = at + join(key);
    // Limits in the wrong order have a fault of their own.
    if (tokens === undefined || tokens >= FEW_TOKENS[key] || !isOrdered) continue;
    if (!source.has(place) || source.hides(place)) continue;
    const effect = key === 'context' ? 'refuses most prompts' : 'cuts answers after some words';
    source.fault(place, {
      code: 'small_limit',
      message: `limits.${key}: ${source.word(place)} ${effect}`,
      hint: `if it is meant in thousands write ${tokens * 1_000}`,
      severity: 'warning',
    });
  }
}
