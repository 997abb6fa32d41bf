import type { Capability } from '../core/model.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { hasOwnAddress } from './base-url.js';
import type { ReadUpstream } from './upstreams.js';

/** The work that a model is listed for, by whether its list price has output tokens. */
const WORK = [
  { capability: 'embedding', has_output: false, does: 'makes embeddings' },
  { capability: 'chat', has_output: true, does: 'writes text' },
] as const;

/** The ID of a model without its vendor and its date. */
function bareName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/-20\d{2}-?\d{2}-?\d{2}$/, '')
    .toLowerCase();
}

/** Families of models for embeddings, whoever serves them. */
const VECTORS =
  /text-embedding|mistral-embed|arctic-embed|nomic|jina|voyage|minilm|mxbai|\b(?:bge|e5|gte)\b/i;

/** Whether the name of a model for embeddings is that of its maker, and not of a deployment. */
function hasKnownName(source: Source, { upstream, read }: ReadUpstream): boolean {
  if (read.manifest.data.base_url?.includes('{resource}')) return false;
  const isOwn = hasOwnAddress(source, upstream.provider.name);
  return VECTORS.test(upstream.model) || (!isOwn && /embed/i.test(upstream.model));
}

/** Whether two known names are of different models. At an own address, of different families. */
function makesOthers(source: Source, one: ReadUpstream, other: ReadUpstream): boolean {
  const [a, b] = [one, other].map(({ upstream }) => bareName(upstream.model));
  const isOwn = [one, other].some(({ upstream }) => hasOwnAddress(source, upstream.provider.name));
  const [own, mixed] = [a, b].map((name = '') => VECTORS.exec(name)?.[0]);
  return isOwn ? own !== mixed : a !== b;
}

/** Warns of embeddings by several models: their vectors do not compare. */
export function checkVectors(
  source: Source,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  if (!capabilities.has('embedding')) return;
  const [first, ...others] = upstreams.filter((one) => hasKnownName(source, one));
  if (!first) return;
  const other = others.find((one) => makesOthers(source, first, one));
  if (!other) return;
  const [own, mixed] = [first, other].map(({ upstream }) => quote(upstream.model));
  source.fault(other.pointer, {
    code: 'mixed_vectors',
    message: `${mixed} makes other vectors than ${own}, and an index of both finds nothing`,
    hint: 'make it a model of its own, and remove it here',
    severity: 'warning',
  });
}

/** The IDs of models that take text, are priced by tokens, and make images. */
const MAKES_IMAGES = /image|imagen|banana|dall-?e|flux/i;

/** Warns of image generation by a model that only writes text: most likely it is to see images. */
export function checkImageWork(
  source: Source,
  pointer: string,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  if (!capabilities.has('image') || !capabilities.has('chat')) return;
  const writer = upstreams.find(
    ({ listed }) =>
      listed?.units.includes('output_per_million') && !MAKES_IMAGES.test(listed.model),
  );
  if (!writer?.listed) return;
  const place = `${pointer}/capabilities${join([...capabilities].indexOf('image'))}`;
  source.fault(place, {
    code: 'other_work',
    message: `capabilities: ${quote(writer.listed.model)} makes no images, so image fails`,
    hint: capabilities.has('vision') ? 'remove image' : 'write vision: the model sees images then',
    severity: 'warning',
  });
}

/** What models do whose names say it, with the only capability that is of use. */
const NAMED = [
  { name: /(?:^|[-/])tts(?:-|$)/, capability: 'speech', does: 'speaks texts' },
  { name: /whisper|-transcribe/, capability: 'transcription', does: 'writes down speech' },
  { name: /^(?:dall-e|gpt-image|imagen)-/, capability: 'image', does: 'makes images' },
  { name: /^(?:veo|sora)-/, capability: 'video', does: 'makes videos' },
] as const;

/** Warns of a model for another kind of work by its name, where no list price tells. */
export function checkNamedWork(
  source: Source,
  pointer: string,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  for (const { upstream, listed } of upstreams) {
    if (listed) continue;
    const model = bareName(upstream.model);
    const own = NAMED.find(({ name }) => name.test(model));
    const [first] = capabilities;
    if (!own || first === undefined || capabilities.has(own.capability)) continue;
    source.fault(`${pointer}/capabilities/0`, {
      code: 'other_work',
      message: `capabilities: ${quote(upstream.model)} ${own.does}, so ${first} fails`,
      hint: `write capabilities: [${own.capability}]`,
      severity: 'warning',
    });
    return;
  }
}

/** Families of models that hear nothing, whoever serves them. */
const DEAF = /^(?:claude-|gpt-(?:4\.1|5)|o[134](?:-|$)|llama-|deepseek-|gpt-oss)/;

/** Warns of recordings for a model that hears nothing. */
export function checkHearing(
  source: Source,
  pointer: string,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  if (!capabilities.has('audio')) return;
  const deaf = upstreams.find(({ upstream }) => DEAF.test(bareName(upstream.model)));
  if (!deaf) return;
  source.fault(`${pointer}/capabilities${join([...capabilities].indexOf('audio'))}`, {
    code: 'other_work',
    message: `capabilities: ${quote(deaf.upstream.model)} takes no audio, so recordings fail`,
    hint: 'remove audio',
    severity: 'warning',
  });
}

/** Families of models that only read text, whoever serves them. */
const READS_TEXT =
  /^(?:gpt-oss|gpt-3\.5|o[13]-mini|codestral|llama-?3\.[13]|command-r|deepseek-(?:[cr]|v3))/;

function readsTextAlone({ upstream: { model }, read }: ReadUpstream): boolean {
  if (READS_TEXT.test(bareName(model))) return true;
  const known = read.manifest.data.init?.models?.[model]?.capabilities ?? [];
  return known.includes('chat') && !known.includes('vision');
}

/** Warns of images for a model that only reads text. */
export function checkSight(
  source: Source,
  pointer: string,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  const blind = capabilities.has('vision') ? upstreams.find(readsTextAlone) : undefined;
  if (!blind) return;
  const sees = upstreams.some((one) => !readsTextAlone(one));
  source.fault(`${pointer}/capabilities${join([...capabilities].indexOf('vision'))}`, {
    code: 'other_work',
    message: `capabilities: ${quote(blind.upstream.model)} reads text alone, so images fail`,
    hint: sees ? 'remove that upstream, or remove vision' : 'remove vision',
    severity: 'warning',
  });
}

/** Warns of a model for chat that is offered for embeddings, and of the reverse. */
export function checkWork(
  source: Source,
  pointer: string,
  capabilities: ReadonlySet<Capability>,
  upstreams: readonly ReadUpstream[],
): void {
  for (const { listed, price_at, read } of upstreams) {
    if (!listed?.units.includes('input_per_million')) continue;
    const has_output = listed.units.includes('output_per_million');
    // A price without that of output has a fault of its own.
    const isGiven =
      source.text(price_at) === 'free' || source.has(`${price_at}/output_per_million`);
    if (!has_output && !isGiven) continue;
    const own = WORK.find((work) => work.has_output === has_output);
    const other = WORK.find((work) => work.has_output !== has_output);
    if (!own || !other || !capabilities.has(other.capability)) continue;
    // A provider that does no such work has an error of its own.
    if (!Object.hasOwn(read.manifest.data.operations ?? {}, other.capability)) continue;
    const at = [...capabilities].indexOf(other.capability);
    const output = `${price_at}/output_per_million`;
    const further = !has_output && source.has(output) ? ', and remove output_per_million' : '';
    source.fault(`${pointer}/capabilities${join(at)}`, {
      code: 'other_work',
      message: `capabilities: ${quote(listed.model)} ${own.does}, so ${other.capability} fails`,
      hint: `write capabilities: [${own.capability}]${further}`,
      severity: 'warning',
    });
    return;
  }
}
