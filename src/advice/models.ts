import { hasOwnAddress, bareName, placeOf } from '../pipeline/model-check.js';
import { listedWork } from '../config/model-work.js';
import { TOOL_TYPES } from '../config/tool-types.js';
import { distance } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { ReadUpstream } from '../config/upstreams.js';
import type { Ability } from '../catalogue/catalogue.js';
import type { Advice } from './advice.js';

/** Families of models that only read text, and that hear nothing, whoever serves them. */
const READS_TEXT =
  /^(?:gpt-oss|gpt-3\.5|o[13]-mini|codestral|llama-?3\.[13]|command-r|deepseek-(?:[cr]|v3))/;
const DEAF = /^(?:claude-|gpt-(?:4\.1|5)|o[134](?:-|$)|llama-|deepseek-|gpt-oss)/;

/** Whether a model is known to lack an ability; undefined where nothing says so. */
function lacksAbility({ facts = {} }: ReadUpstream, ability: Ability): boolean | undefined {
  if (facts.has?.includes(ability)) return false;
  return facts.lacks?.includes(ability) ? true : undefined;
}

function readsTextAlone(one: ReadUpstream): boolean {
  return lacksAbility(one, 'vision') ?? isOfTextFamily(one);
}

function isOfTextFamily({ upstream: { model }, read }: ReadUpstream): boolean {
  if (READS_TEXT.test(bareName(model))) return true;
  const known = read.manifest.data.init?.models?.[model]?.capabilities ?? [];
  return known.includes('chat') && !known.includes('vision');
}

/** The IDs of models that take text, are priced by tokens, and make images. */
const MAKES_IMAGES = /image|imagen|banana|dall-?e|flux/i;

export const otherWork: Advice = {
  code: 'other_work',
  saves: 'the first hour: every call for work that a model does not do fails',
  *check({ models, modalities }) {
    for (const model of models) {
      const { capabilities, upstreams } = model;
      const has = (name: string): boolean => [...capabilities].some((one) => one === name);
      const warn = (at: string, message: string, hint: string) => {
        const place = [...capabilities].find((one) => one === at);
        const pointer = place ? placeOf(model, place) : model.pointer;
        return { pointer, message: `capabilities: ${message}`, hint };
      };
      const named = upstreams.flatMap((one) => {
        const name = bareName(one.upstream.model);
        const isText = one.listed?.units.includes('input_per_million');
        if (isText && !MAKES_IMAGES.test(name)) return [];
        const work = [...modalities.values()].find(({ configuration: { model_names } }) =>
          model_names?.test(name),
        );
        return work && !has(work.name) ? [{ one, work }] : [];
      });
      const listed = upstreams.flatMap((one) => {
        const { units = [] } = one.listed ?? {};
        const work = listedWork(units.includes('output_per_million'), modalities);
        const other = listedWork(!units.includes('output_per_million'), modalities);
        const isOther = other && has(other.name) && units.includes('input_per_million');
        return work && isOther ? [{ one, work, other: other.name }] : [];
      });
      const [odd] = [...listed, ...named.map((found) => ({ ...found, other: undefined }))];
      if (odd) {
        const at = odd.other ?? [...capabilities][0] ?? '';
        const { does } = odd.work.configuration;
        const said = `${quote(odd.one.upstream.model)} ${does}, so ${at} fails`;
        yield warn(at, said, `write capabilities: [${odd.work.name}]`);
      }
      const blind = has('vision') ? upstreams.find(readsTextAlone) : undefined;
      if (blind) {
        const said = `${quote(blind.upstream.model)} reads text alone, so images fail`;
        yield warn('vision', said, 'remove vision, or that upstream');
      }
      const deaf = upstreams.find((one) => {
        return lacksAbility(one, 'audio') ?? DEAF.test(bareName(one.upstream.model));
      });
      if (deaf && has('audio')) {
        const said = `${quote(deaf.upstream.model)} takes no audio, so recordings fail`;
        yield warn('audio', said, 'remove audio');
      }
      const mute = upstreams.find((one) => lacksAbility(one, 'tools') === true);
      if (mute && has('tools')) {
        const said = `${quote(mute.upstream.model)} calls no tools, so requests with them fail`;
        yield warn('tools', said, 'remove tools, or that upstream');
      }
      const writer = upstreams.find(({ listed: list }) => {
        return list?.units.includes('output_per_million') && !MAKES_IMAGES.test(list.model);
      });
      if (writer && has('image') && has('chat')) {
        const said = `${quote(writer.upstream.model)} makes no images, so image fails`;
        yield warn('image', said, 'write vision in its place if it sees images');
      }
    }
  },
};

/** Families of models for embeddings, whoever serves them. */
const VECTORS =
  /text-embedding|mistral-embed|arctic-embed|nomic|jina|voyage|minilm|mxbai|\b(?:bge|e5|gte)\b/i;

export const mixedVectors: Advice = {
  code: 'mixed_vectors',
  saves: 'an index of vectors that do not compare, and has to be paid again',
  *check({ source, models }) {
    for (const { capabilities, upstreams } of models) {
      if (![...capabilities].includes('embedding')) continue;
      const [first, ...others] = upstreams.filter((one) => hasKnownName(source, one));
      const other = first && others.find((one) => makesOthers(source, first, one));
      if (!first || !other) continue;
      const [own, mixed] = [first, other].map(({ upstream }) => quote(upstream.model));
      const message = `${mixed} makes other vectors than ${own}: an index of both finds nothing`;
      const hint = 'make it a model of its own, and remove it here';
      yield { pointer: other.pointer, message, hint };
    }
  },
};

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

export const lowImageTokens: Advice = {
  code: 'low_image_tokens',
  saves: 'the tokens of images that a hold does not cover',
  *check({ source, models }) {
    for (const { pointer: at, limits, upstreams } of models) {
      const pointer = `${at}/limits/image_tokens`;
      const max = Math.max(
        0,
        ...upstreams.map(({ upstream }) => upstream.provider.image_tokens ?? 0),
      );
      if (limits.image_tokens === undefined || limits.image_tokens >= max) continue;
      const given = source.word(pointer);
      const message = `limits.image_tokens: ${given} may be less than an image costs`;
      const hint = `leave it out for the ${max} of the manifest, unless this model takes fewer`;
      yield { pointer, message, hint };
    }
  },
};

/** Output tokens of one square image in high quality. */
const MADE_IMAGE_TOKENS = 4_160;

export const lowImageOutput: Advice = {
  code: 'low_max_tokens',
  saves: 'images paid in tokens that a hold does not cover',
  *check({ source, models }) {
    for (const { pointer: at, limits, capabilities, upstreams } of models) {
      const pointer = `${at}/limits/max_tokens`;
      const has = (name: string): boolean => [...capabilities].some((one) => one === name);
      const isPaid = upstreams.some(({ upstream }) => upstream.price.output_nano_per_million > 0n);
      const isLow = (limits.max_tokens ?? Infinity) < MADE_IMAGE_TOKENS;
      if (!has('image') || has('chat') || !isPaid || !isLow) continue;
      const given = source.word(pointer);
      const message = `limits.max_tokens: ${given} may be less than an image made here costs`;
      const hint = `one of 1024x1024 in high quality takes ${MADE_IMAGE_TOKENS} tokens`;
      yield { pointer, message, hint };
    }
  },
};

/** A context of 1,048,576 tokens is called a million, and the other way round. */
const ROUNDED = 1.05;

export const highMaxTokens: Advice = {
  code: 'out_of_range',
  saves: 'balances of clients, which too large holds block',
  *check({ source, models }) {
    for (const { pointer: at, limits, upstreams } of models) {
      const { max_tokens = 0, default_max_tokens, context } = limits;
      const whole = `${at}/limits/default_max_tokens`;
      if (default_max_tokens !== undefined && default_max_tokens === context && source.has(whole)) {
        const message = `limits.default_max_tokens: ${source.word(whole)} is the whole context`;
        const hint = 'write a smaller limit, which leaves room for a prompt';
        yield { pointer: whole, message, hint };
      }
      const bounds = [
        ['max_tokens', max_tokens, 'writes'],
        ['context', context ?? 0, 'takes in all'],
      ] as const;
      for (const [key, given, does] of bounds) {
        const pointer = `${at}/limits/${key}`;
        const beyond = upstreams.flatMap((one) => {
          const known = knownLimit(one, key);
          const slack = key === 'context' ? ROUNDED : 1;
          return known !== undefined && known * slack < given ? [{ one, known }] : [];
        });
        const [first] = beyond.filter(({ one }) => !one.upstream.provider.local);
        if (!first || !source.has(pointer)) continue;
        const { model, provider } = first.one.upstream;
        const where = `${quote(model)} at ${quote(provider.name)}`;
        const message = `limits.${key}: ${source.word(pointer)} is more than ${where} ${does}`;
        yield { pointer, message, hint: `write ${first.known}` };
      }
    }
  },
};

/** A limit that a model is known to have: of its facts, else of what `tollgate init` writes. */
function knownLimit(one: ReadUpstream, key: 'max_tokens' | 'context'): number | undefined {
  const { facts, read, upstream } = one;
  const written: unknown = read.manifest.data.init?.models?.[upstream.model]?.limits?.[key];
  return facts?.[key] ?? (typeof written === 'number' ? written : undefined);
}

export const unpricedTool: Advice = {
  code: 'unpriced_tool',
  saves: "an upstream's charge for its own tools, which no unit of a price covers",
  *check({ models }) {
    for (const { pointer: at, model } of models) {
      for (const [i, type] of [...(model.tool_types ?? [])].entries()) {
        const near = TOOL_TYPES.includes(type)
          ? undefined
          : TOOL_TYPES.find((one) => distance(one, type) <= 2);
        yield {
          pointer: `${at}/tool_types${join(i)}`,
          message: `tool_types: the upstream may charge for ${quote(type)} beside its tokens`,
          hint: near
            ? `did you mean ${quote(near)}?`
            : 'the prices of the model must cover that too',
        };
      }
    }
  },
};

export const simulatedFallback: Advice = {
  code: 'simulated_fallback',
  saves: 'money of clients, for answers that the simulator makes up',
  *check({ models }) {
    for (const { upstreams } of models) {
      const last = upstreams.at(-1);
      const isAll = upstreams.every(({ upstream }) => upstream.provider.local);
      if (!last?.upstream.provider.local || isAll || last.upstream.price.free) continue;
      const name = quote(last.upstream.provider.name);
      const message = `${name} makes up its answers, and clients pay for them here`;
      const hint = 'remove it: a call is not charged if no upstream answers';
      yield { pointer: last.pointer, message, hint };
    }
  },
};
