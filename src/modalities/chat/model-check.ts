import { TOKEN_UNIT_FIELDS } from '../../core/model.js';
import { formatDollars } from '../../lib/money.js';
import { pointer as join, quote } from '../../yaml/source.js';
import {
  bareName,
  payersOf,
  placeOf,
  type CheckedModel,
  type CheckedUpstream,
} from '../../pipeline/model-check.js';

/** Warns of likely mistakes in a model for chat. */
export function checkChatModel(model: CheckedModel): void {
  if (model.capabilities.has('vision')) {
    checkSight(model);
    checkImageTokens(model);
  }
  if (model.capabilities.has('audio')) {
    checkHearing(model);
    for (const payers of payersOf(model)) checkAudioPrice(model, payers);
  }
  if (model.capabilities.has('chat')) checkThousands(model);
}

/** Families of models that only read text, whoever serves them. */
const READS_TEXT =
  /^(?:gpt-oss|gpt-3\.5|o[13]-mini|codestral|llama-?3\.[13]|command-r|deepseek-(?:[cr]|v3))/;

function readsTextAlone({ upstream: { model }, read }: CheckedUpstream): boolean {
  if (READS_TEXT.test(bareName(model))) return true;
  const known = read.manifest.data.init?.models?.[model]?.capabilities ?? [];
  return known.includes('chat') && !known.includes('vision');
}

/** Warns of images for a model that only reads text. */
function checkSight(model: CheckedModel): void {
  const { source, upstreams } = model;
  const blind = upstreams.find(readsTextAlone);
  if (!blind) return;
  const sees = upstreams.some((one) => !readsTextAlone(one));
  source.fault(placeOf(model, 'vision'), {
    code: 'other_work',
    message: `capabilities: ${quote(blind.upstream.model)} reads text alone, so images fail`,
    hint: sees ? 'remove that upstream, or remove vision' : 'remove vision',
    severity: 'warning',
  });
}

/** Warns where an image may cost more tokens than the hold covers, which can end as a loss. */
function checkImageTokens({ source, pointer, limits, upstreams }: CheckedModel): void {
  const { image_tokens } = limits;
  if (image_tokens === undefined) return;
  const stated = upstreams.map(({ upstream }) => upstream.provider.image_tokens ?? 0);
  const max = Math.max(0, ...stated);
  if (image_tokens >= max) return;
  const place = `${pointer}/limits/image_tokens`;
  source.fault(place, {
    code: 'low_image_tokens',
    message: `limits.image_tokens: ${source.word(place)} may be less than an image costs`,
    hint: `leave it out for the ${max} of the manifest, unless this model takes fewer`,
    severity: 'warning',
  });
}

/** Families of models that hear nothing, whoever serves them. */
const DEAF = /^(?:claude-|gpt-(?:4\.1|5)|o[134](?:-|$)|llama-|deepseek-|gpt-oss)/;

/** Warns of recordings for a model that hears nothing. */
function checkHearing(model: CheckedModel): void {
  const deaf = model.upstreams.find(({ upstream }) => DEAF.test(bareName(upstream.model)));
  if (!deaf) return;
  model.source.fault(placeOf(model, 'audio'), {
    code: 'other_work',
    message: `capabilities: ${quote(deaf.upstream.model)} takes no audio, so recordings fail`,
    hint: 'remove audio',
    severity: 'warning',
  });
}

/** The models of OpenAI whose sound costs ten times as much as text or more. */
const GPT_AUDIO = /\bgpt-(?:[\w.]+-)*?(?:audio|realtime)\b/;

/** How many times its price a class may cost before it needs one of its own. */
const MUCH = 3n;

/** Warns of audio that is charged as text where its list price is far above that of text. */
function checkAudioPrice({ source }: CheckedModel, payers: readonly CheckedUpstream[]): void {
  const [first] = payers;
  if (!first || source.text(first.price_at) === 'list') return;
  const { price_at, upstream } = first;
  const { audio_input_nano_per_million: own, input_nano_per_million: input, free } = upstream.price;
  if (own !== undefined || free || input === 0n) return;
  const others = TOKEN_UNIT_FIELDS.map(([unit]) => unit);
  if (source.hasMisspelled(price_at, 'audio_input_per_million', others)) return;
  const charged = `is charged as other input, at ${formatDollars(input)}`;
  const warn = (message: string, hint: string): void =>
    source.fault(price_at, { code: 'missing_price', message, hint, severity: 'warning' });
  const listed = payers.flatMap((one) => one.listed ?? []);
  const dear = listed.find(
    ({ price }) => (price.audio_input_nano_per_million ?? 0n) > input * MUCH,
  );
  if (dear) {
    const cost = formatDollars(dear.price.audio_input_nano_per_million ?? 0n);
    const message = `price: audio of ${quote(dear.model)} costs ${cost}, and ${charged}`;
    return warn(message, `add audio_input_per_million: ${cost}`);
  }
  const named = payers.find(({ upstream: { model } }) => GPT_AUDIO.test(model));
  if (!named) return;
  const hint = 'add audio_input_per_million: its provider charges many times as much for audio';
  warn(`price: audio of ${quote(named.upstream.model)} ${charged}`, hint);
}

/** The least tokens of chat: fewer cut every answer after some words, and refuse most prompts. */
const FEW_TOKENS = { max_tokens: 64, context: 1_024 };

/** Warns of tokens that are most likely meant in thousands. */
function checkThousands({ source, pointer, limits }: CheckedModel): void {
  const isOrdered = (limits.max_tokens ?? 0) <= (limits.context ?? Infinity);
  for (const key of ['max_tokens', 'context'] as const) {
    const tokens = limits[key];
    const place = `${pointer}/limits${join(key)}`;
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
