import { payersOf, type CheckedModel, type CheckedUpstream } from '../../pipeline/model-check.js';
import { quote, type Source } from '../../yaml/source.js';

/** Warns of likely mistakes in a model that writes down speech, or has a limit for recordings. */
export function checkTranscriptionModel(model: CheckedModel): void {
  checkSeconds(model);
  if (!model.capabilities.has('transcription')) return;
  for (const payers of payersOf(model)) checkMinutes(model.source, payers);
}

/** Few recordings are shorter. */
const SHORT_AUDIO_SECONDS = 60;

/** Warns of a length of recordings that is most likely meant in minutes. */
function checkSeconds({ source, pointer, limits: { audio_seconds } }: CheckedModel): void {
  const place = `${pointer}/limits/audio_seconds`;
  if (audio_seconds === undefined || audio_seconds >= SHORT_AUDIO_SECONDS) return;
  if (source.hides(place)) return;
  source.fault(place, {
    code: 'small_limit',
    message: `limits.audio_seconds: recordings of more than ${audio_seconds} seconds are refused`,
    hint: `if it is meant in minutes write ${audio_seconds * 60}`,
    severity: 'warning',
  });
}

/** Models of transcription that are billed by the minute of sound, and report no tokens. */
const BY_MINUTE = /(?:^|\/)whisper-?\d/i;

/** Warns of a price in tokens for them. */
function checkMinutes(source: Source, payers: readonly CheckedUpstream[]): void {
  const timed = payers.find(({ upstream: { model, price } }) => {
    return BY_MINUTE.test(model) && !price.free && price.per_audio_minute === undefined;
  });
  if (!timed || !source.has(`${timed.price_at}/input_per_million`)) return;
  source.fault(timed.price_at, {
    code: 'missing_price',
    message: `price: ${quote(timed.upstream.model)} is billed by the minute, and reports no tokens`,
    hint: 'write its price by the minute, such as { per_audio_minute: 0.006 }',
    severity: 'warning',
  });
}
