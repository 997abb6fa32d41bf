import { isListPrice } from '../config/price-terms.js';
import type { ReadModel } from '../config/models.js';
import type { ModelNames } from '../config/model-names.js';
import { strayPart } from '../config/upstream-model.js';
import type { FinishedFile } from '../config/load.js';
import type { ReadUpstream } from '../config/upstreams.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import { flow } from '../yaml/schema-walk.js';
import { pointer as join, quote } from '../yaml/source.js';
import type { Advice, Warning } from './advice.js';

/** An upstream whose model ID the file may show, with what is known of it. */
interface Asked {
  view: FinishedFile;
  one: ReadUpstream;
  /** The place of the ID: its own key, or the upstream that takes the ID of the model. */
  pointer: string;
  isOwn: boolean;
  model: string;
  manifest: string;
  /** The models that the provider is known to have. */
  names: ModelNames;
}

type Words = Pick<Warning, 'message' | 'hint'> & { key?: 'provider' };

/** All upstreams at the usual address of a provider: what is served elsewhere is not known. */
function* upstreamsIn(view: FinishedFile): Iterable<Asked> {
  const { source, models, prices } = view;
  for (const one of models.flatMap(({ upstreams }: ReadModel) => upstreams)) {
    const { upstream, read, pointer } = one;
    const own = `${pointer}/model`;
    const isOwn = source.has(own);
    const { manifest, local, name } = upstream.provider;
    if (local || hasOwnAddress(source, name) || (isOwn && source.hides(own))) continue;
    const names = prices.names(manifest, Object.keys(read.manifest.data.init?.models ?? {}));
    const place = isOwn ? own : pointer;
    yield { view, one, pointer: place, isOwn, model: upstream.model, manifest, names };
  }
}

export const unknownModel: Advice = {
  code: 'unknown_model',
  saves: 'the first hour: the provider refuses every call of a misspelt model',
  *check(view) {
    for (const asked of upstreamsIn(view)) {
      const { one, pointer } = asked;
      const isKnown = one.listed || asked.names.exact(asked.model) !== undefined;
      const words = isKnown ? wrongDate(asked.model) : (vendorMissing(asked) ?? meant(asked));
      const end = endOf(asked);
      if (end) yield { pointer, ...end };
      if (!words || strayPart(view, { ...one, model: asked.model })) continue;
      const { key, ...said } = words;
      yield { pointer: key ? `${one.pointer}/${key}` : pointer, ...said };
    }
  },
};

/** The words for an ID without the vendor that all IDs of its provider begin with. */
function vendorMissing({ view, one, isOwn, model, manifest }: Asked): Words | undefined {
  const example = one.read.manifest.data.model_example ?? '';
  if (!example.includes('/') || model.includes('/')) return undefined;
  const at = example.startsWith('@') ? '@' : '';
  const vendor = at ? undefined : view.prices.ownerOf(model);
  const hint =
    vendor === undefined
      ? `${flow(`${at}VENDOR/${model}`)}, such as ${flow(example)}`
      : `${flow(`${vendor}/${model}`)}, with the vendor as ${manifest} spells it`;
  return {
    message: `model: ${quote(model)} lacks its vendor, which ${manifest} has in front`,
    hint: `${isOwn ? 'write' : 'add'} model: ${hint}`,
  };
}

/** The words for an ID that is nearly a known one, or that another provider has. */
function meant(asked: Asked): Words | undefined {
  const { view, isOwn, model, manifest, names } = asked;
  const { prices, source } = view;
  if (isOwn && model === manifest && names.first !== undefined) {
    const message = `model: ${quote(model)} is the name of the provider`;
    return { message, hint: `write the ID of a model, such as ${flow(names.first)}` };
  }
  const message = `model: the gateway knows no model ${quote(model)} of ${manifest}`;
  const did = (id: string): Words => {
    return { message, hint: isOwn ? `did you mean ${quote(id)}?` : `add model: ${flow(id)}` };
  };
  const near = names.meant(model);
  if (near !== undefined) return did(near);
  if (!prices.has(manifest)) return undefined;
  const last = model.slice(model.lastIndexOf('/') + 1);
  const region = source.text(`/providers${join(asked.one.upstream.provider.name)}/region`) ?? '';
  const areas = [region.replace(/-.*/, ''), 'global'].map((area) => `${area}.${last}`);
  const whole = [...areas, last].map((id) => names.exact(id)).find(Boolean) ?? names.longer(last);
  if (whole !== undefined) return did(whole);
  if (names.hasFamily(model)) return undefined;
  const owner = prices.ownerOf(last);
  if (owner !== undefined) {
    const id = last === model ? '' : ` and model: ${flow(last)}`;
    const add = source.has(`/providers${join(owner)}`) ? '' : `add ${owner} under providers, and `;
    return {
      message: `model: ${quote(model)} is a model of ${owner}, not of ${manifest}`,
      hint: `${add}write provider: ${owner}${id}`,
      key: 'provider',
    };
  }
  const isAlias = !isOwn && /^[a-z]+(?:-[a-z]+)*$/.test(model) && !/latest|preview/.test(model);
  const such = `add model: ID, such as model: ${flow(names.first ?? 'ID')}`;
  return isAlias ? { message, hint: such } : undefined;
}

const DATE = /^(.*?)(20\d{2})(-?)(\d{2})-?(\d{2})((?:-v\d.*)?)$/;

/** The words for the ID of a snapshot whose date no calendar has. */
function wrongDate(model: string): Words | undefined {
  const [, name = '', year = '', dash = '', month = '', day = '', end = ''] =
    DATE.exec(model) ?? [];
  if (year === '' || isDay(year, month, day)) return undefined;
  const right = isDay(year, day, month) ? name + [year, day, month].join(dash) + end : undefined;
  return {
    message: `model: ${quote(model)} has a date that no calendar has`,
    hint: right === undefined ? 'check its last digits' : `did you mean ${quote(right)}?`,
  };
}

function isDay(year: string, month: string, day: string): boolean {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** So many days before its end a model is told of. */
const SOON_DAYS = 30;
const DAY_MS = 86_400_000;

/** The words for a model that its provider has ended, or ends soon. */
function endOf({ view: { now_ms }, one, model, manifest }: Asked): Words | undefined {
  const { retires, gone } = one.facts ?? {};
  if (now_ms === undefined || !(gone ?? retires)) return undefined;
  const [today, soon] = [0, SOON_DAYS].map((days) => {
    return new Date(now_ms + days * DAY_MS).toISOString().slice(0, 10);
  });
  if (!gone && (retires ?? '') > (soon ?? '')) return undefined;
  const verb = (retires ?? '') > (today ?? '') ? 'ends' : 'was to end';
  const when = retires === undefined ? 'is said to be gone' : `${verb} on ${retires}`;
  const message = `model: ${quote(model)} of ${manifest} ${when}`;
  return { message, hint: 'write a newer model, or leave it while it still answers' };
}

export const prefixedModel: Advice = {
  code: 'prefixed_model',
  saves: 'the first hour: IDs with the name of a provider, as other gateways write them',
  *check(view) {
    for (const one of view.models.flatMap(({ upstreams }) => upstreams)) {
      const stray = strayPart(view, { ...one, model: one.upstream.model });
      if (stray) yield { pointer: `${one.pointer}/model`, ...stray };
    }
  },
};

export const otherModel: Advice = {
  code: 'other_model',
  saves: 'a model that clients pay for while another one answers',
  *check({ source, models, prices, modalities }) {
    for (const { model: entry, upstreams } of models) {
      const [first] = upstreams;
      const pointer = `${first?.pointer}/model`;
      if (!first || !source.has(pointer) || source.hides(pointer)) continue;
      const { provider, model } = first.upstream;
      const meant = prices.find({ provider, model: entry.id }, modalities);
      const isCopied = source.has(`/models${join(model)}`) || isListPrice(source, first.price_at);
      if (meant?.model !== entry.id || first.listed?.model === entry.id || !isCopied) continue;
      const [id, other] = [quote(entry.id), quote(model)];
      const message = `model: ${other} answers for ${id}, which ${provider.manifest} has itself`;
      yield { pointer, message, hint: `write model: ${flow(entry.id)}, or leave it if meant` };
    }
  },
};

export const patternModel: Advice = {
  code: 'pattern_model',
  saves: 'the first hour: a model ID that is no pattern, though other gateways have them',
  *check({ models }) {
    for (const { pointer, model } of models) {
      if (!model.id.includes('*')) continue;
      const message = `the model ID ${quote(model.id)} is no pattern: * stands for itself`;
      yield { pointer, message, hint: 'write an entry for each model', at: 'key' };
    }
  },
};
