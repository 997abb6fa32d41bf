import type { Capability, Price } from '../core/model.js';
import type { CheckedModel, CheckedUpstream, LimitName } from '../pipeline/model-check.js';
import type { Modalities } from '../pipeline/modality.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { checkLongPrompts } from './long-prompts.js';
import { listedWork } from './model-work.js';
import type { ReadUpstream } from './upstreams.js';

type Limits = CheckedModel['limits'];

/** Reports limits under which a hold is too small for the charge, and limits without effect. */
export function checkLimits(
  model: CheckedModel,
  upstreams: readonly ReadUpstream[],
  modalities: Modalities,
): void {
  const { source, limits } = model;
  const at = `${model.pointer}/limits`;
  checkOrders(source, at, limits);
  checkDefault(source, at, limits);
  checkOutput(model);
  checkUnused(model, modalities);
  checkAudioPrices(model);
  checkLongPrompts(source, at, limits.context, upstreams);
  checkKinds(model);
}

const ORDERS = [
  ['max_tokens', 'context'],
  ['default_max_tokens', 'max_tokens'],
  ['default_max_tokens', 'context'],
  ['image_tokens', 'context'],
] as const;

/** Reports a limit above another one that bounds it; if two bound it, the nearer one. */
function checkOrders(source: Source, at: string, limits: Limits): void {
  const reported = new Set<string>();
  for (const [lower, upper] of ORDERS) {
    if ((limits[lower] ?? 0) <= (limits[upper] ?? Infinity) || reported.has(lower)) continue;
    reported.add(lower);
    if (upper === 'context' && reportThousands(source, at, limits)) return;
    const place = `${at}/${lower}`;
    const bound = upper === 'context' ? 'the context' : upper;
    source.fault(place, {
      code: 'out_of_range',
      message: `limits.${lower}: ${source.word(place)} is more than ${bound}`,
      hint: orderHint(source, at, limits, lower, upper),
    });
  }
}

/** Warns of a default limit of the output that is the whole context: no prompt fits beside it. */
function checkDefault(source: Source, at: string, { default_max_tokens, context }: Limits): void {
  const place = `${at}/default_max_tokens`;
  if (default_max_tokens === undefined || default_max_tokens !== context) return;
  if (!source.has(place)) return;
  source.fault(place, {
    code: 'out_of_range',
    message: `limits.default_max_tokens: ${source.word(place)} is the whole context`,
    hint: 'write a smaller limit, which leaves room for a prompt',
    severity: 'warning',
  });
}

/** Warns of more output than the manifest says of a model: holds are too large, and calls fail. */
function checkOutput({ source, pointer, limits, upstreams }: CheckedModel): void {
  const { max_tokens } = limits;
  const place = `${pointer}/limits/max_tokens`;
  if (max_tokens === undefined || !source.has(place)) return;
  for (const { upstream, read } of upstreams) {
    if (upstream.provider.local) continue;
    const known = read.manifest.data.init?.models?.[upstream.model]?.limits?.max_tokens;
    if (typeof known !== 'number' || max_tokens <= known) continue;
    const at_provider = upstreams.length > 1 ? ` at ${quote(upstream.provider.name)}` : '';
    const model = `${quote(upstream.model)}${at_provider}`;
    source.fault(place, {
      code: 'out_of_range',
      message: `limits.max_tokens: ${source.word(place)} is more than ${model} writes`,
      hint: `write ${known}`,
      severity: 'warning',
    });
    return;
  }
}

/** Reports a context in thousands of tokens, such as 128. */
function reportThousands(source: Source, at: string, limits: Limits): boolean {
  const { max_tokens = 0, context = 0 } = limits;
  const isMeant = max_tokens >= SHORT_CONTEXT && context * 1_000 >= max_tokens;
  if (context >= SHORT_CONTEXT || !isMeant || source.hides(`${at}/context`)) return false;
  source.fault(`${at}/context`, {
    code: 'out_of_range',
    message: `limits.context: ${source.word(`${at}/context`)} tokens are fewer than an answer has`,
    hint: `did you mean "${context}000"?`,
  });
  return true;
}

/** No model has so short a context. */
const SHORT_CONTEXT = 2_000;

/** The longest output of a model; a context that is no longer is most likely one of output. */
const LONGEST_OUTPUT = 65_536;

function orderHint(
  source: Source,
  at: string,
  { max_tokens = 0, context = 0 }: Limits,
  lower: (typeof ORDERS)[number][0],
  upper: (typeof ORDERS)[number][1],
): string {
  if (lower === 'max_tokens' && context <= LONGEST_OUTPUT && max_tokens > LONGEST_OUTPUT) {
    return `swap the two: max_tokens: ${context}, context: ${max_tokens}`;
  }
  return `write ${source.written(`${at}/${upper}`)} or less, or a larger ${upper}`;
}

/** The capabilities that need a limit. None needs `context`, which bounds the usage of all. */
function usersOf(name: LimitName, modalities: Modalities): Capability[] {
  return [...modalities.values()].flatMap(({ limits }) => limits[name] ?? []);
}

/** Warns of limits that no request of the model is bound by. */
function checkUnused(model: CheckedModel, modalities: Modalities): void {
  const { source, pointer, limits, capabilities } = model;
  if (capabilities.size === 0) return;
  for (const name of Object.keys(limits) as LimitName[]) {
    const users = usersOf(name, modalities);
    if (users.length === 0 || users.some((one) => capabilities.has(one))) continue;
    const embedding = name === 'max_tokens' && listedWork(false, modalities)?.name;
    const isInput = embedding && capabilities.has(embedding);
    const meant =
      limits.context === undefined
        ? `write context: ${limits.max_tokens}, the length of an input`
        : 'remove it: context is the length of an input';
    const hint = isInput ? meant : undefined;
    source.fault(`${pointer}/limits/${name}`, {
      code: 'unused_limit',
      message: `limits.${name} bounds nothing: the model does ${[...capabilities].join(', ')}`,
      hint: hint ?? `it is for ${users.join(', ')}`,
      at: 'key',
      severity: 'warning',
    });
  }
}

const AUDIO_INPUT: readonly Capability[] = ['audio', 'transcription'];
const AUDIO_PRICE = 'audio_input_nano_per_million' satisfies keyof Price;

/** Warns of a price for audio input where no capability lets audio in. */
function checkAudioPrices({ source, capabilities, upstreams }: CheckedModel): void {
  if (capabilities.size === 0 || AUDIO_INPUT.some((one) => capabilities.has(one))) return;
  const priced = upstreams.filter(({ upstream }) => AUDIO_PRICE in upstream.price);
  for (const place of new Set(priced.map(({ price_at }) => price_at))) {
    const pointer = `${place}/audio_input_per_million`;
    if (!source.has(pointer)) continue;
    source.fault(pointer, {
      code: 'unused_price',
      message: 'audio_input_per_million is never charged: audio in a prompt is refused',
      hint: 'add the capability audio, or remove the price',
      at: 'key',
      severity: 'warning',
    });
  }
}

type Kinds = ReadonlyMap<string, bigint> | undefined;

/** Warns of sizes, qualities and resolutions that the price of one upstream lacks. */
function checkKinds({ source, upstreams }: CheckedModel): void {
  for (const unit of ['per_image', 'per_video_second'] as const) {
    const of = ({ upstream: { price } }: CheckedUpstream): Kinds => price[unit];
    if (!upstreams.some(of)) continue;
    const all = new Set(upstreams.flatMap((one) => [...(of(one)?.keys() ?? [])]));
    for (const one of upstreams) {
      const own = of(one);
      const place = `${one.price_at}${join(unit)}`;
      if (!own || own.has('any') || one.upstream.price.free || !source.has(place)) continue;
      const missing = [...all].filter((kind) => kind !== 'any' && !covers(own, kind));
      if (missing.length === 0) continue;
      source.fault(place, {
        code: 'uncovered_kind',
        message: `${unit} has no price for ${missing.join(', ')}, which other upstreams serve`,
        hint: 'this upstream gets no request for those: add them if it can make them',
        severity: 'warning',
      });
    }
  }
}

/** `hd` covers `hd/1024x1024`, and so does `1024x1024`. */
function covers(own: NonNullable<Price['per_image']>, kind: string): boolean {
  return own.has(kind) || kind.split('/').some((part) => own.has(part));
}
