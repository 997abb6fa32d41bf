import type { Model } from '../core/model.js';
import { formatDollars } from '../lib/money.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { checkTexts } from './clear-text.js';
import { checkAddresses } from './open-addresses.js';
import type { ReadFile } from './read-file.js';
import { capabilityOf, checkRemoved, removedHint } from './removed-endpoints.js';
import { checkUpstreamOrder } from './upstream-order.js';

/** Warns of settings that are valid, but most likely not meant, and cost money or customers. */
export function checkLikelyMistakes(source: Source, file: ReadFile): void {
  checkTexts(source, file.gateway);
  checkAddresses(source, file);
  checkImageAnswers(source, file);
  if (source.complete) checkReached(source, file);
  checkRemoved(source, file);
  checkUpstreamOrder(source, file);
  checkSignIns(source, file);
  checkCredit(source, file);
  checkCase(source);
  checkPatterns(source);
}

/** Warns of a model ID in the form of a pattern, which stands for that one text alone. */
function checkPatterns(source: Source): void {
  for (const id of source.keys('/models') ?? []) {
    if (!id.includes('*')) continue;
    source.fault(`/models${join(id)}`, {
      code: 'pattern_model',
      message: `the model ID ${quote(id)} is no pattern: * stands for itself`,
      hint: 'write an entry for each model',
      at: 'key',
      severity: 'warning',
    });
  }
}

/** Warns of a model whose ID differs from that of an earlier one in case only. */
function checkCase(source: Source): void {
  const seen = new Map<string, string>();
  for (const id of source.keys('/models') ?? []) {
    const low = id.toLowerCase();
    const first = seen.get(low);
    seen.set(low, first ?? id);
    if (first === undefined) continue;
    source.fault(`/models${join(id)}`, {
      code: 'similar_models',
      message: `the model IDs ${quote(first)} and ${quote(id)} differ in case only`,
      hint: 'clients will mix them up: rename one, or remove one',
      at: 'key',
      severity: 'warning',
    });
  }
}

/** Warns of settings for people who sign in that do nothing, or are told at each sign-in. */
function checkSignIns(source: Source, { dashboard, sign_in, alerts }: ReadFile): void {
  if (!dashboard && sign_in.providers.size > 0 && source.has('/dashboard')) {
    source.fault('/dashboard', {
      code: 'unused_sign_in',
      message: 'dashboard: without it nobody can sign in, and sign_in has no effect',
      hint: 'remove dashboard: false, or remove sign_in',
      severity: 'warning',
    });
  }
  const low_nano = alerts?.low_balance_nano ?? 0n;
  const { credit_nano } = sign_in;
  if (credit_nano === 0n || low_nano < credit_nano || !source.has('/alerts/low_balance')) return;
  const credit = formatDollars(credit_nano);
  source.fault('/alerts/low_balance', {
    code: 'low_balance_of_newcomers',
    message: `low_balance: each newcomer begins with ${credit}, so each is an alert`,
    hint: `write less than that, such as ${formatDollars(credit_nano / 5n)}`,
    severity: 'warning',
  });
}

/** Warns of a credit that is less than the hold of a call, so that each such call is refused. */
function checkCredit(source: Source, { sign_in, models }: ReadFile): void {
  const { credit_nano } = sign_in;
  const place = '/sign_in/credit';
  if (credit_nano === 0n || !source.has(place)) return;
  const dear = [...models.values()].filter((model) => outputHold(model) > credit_nano);
  const [first] = dear.toSorted((a, b) => (outputHold(a) < outputHold(b) ? 1 : -1));
  if (!first) return;
  const held = formatDollars(outputHold(first));
  const more = dear.length > 1 ? `; the same goes for ${dear.length - 1} more` : '';
  source.fault(place, {
    code: 'small_credit',
    message: `credit: a call of ${quote(first.id)} without a limit holds ${held}, and is refused`,
    hint: `add default_max_tokens: 4096 to its limits, or write a higher credit${more}`,
    severity: 'warning',
  });
}

/** The hold for the output of a call that names no limit; 0 if it is not known. */
function outputHold({ limits, upstreams, capabilities }: Model): bigint {
  const tokens = limits.default_max_tokens ?? limits.max_tokens;
  if (tokens === undefined || !capabilities.has('chat')) return 0n;
  const prices = upstreams.map(({ price }) => price.output_nano_per_million);
  const dearest = prices.reduce((most, price) => (price > most ? price : most), 0n);
  return (dearest * BigInt(tokens)) / 1_000_000n;
}

/** An answer with ten images as base64 has more; a smaller limit throws paid answers away. */
const IMAGE_ANSWER_BYTES = 8_000_000;

function checkImageAnswers(source: Source, { limits, models }: ReadFile): void {
  const place = '/limits/answer';
  const [small, large] = [1_000_000, IMAGE_ANSWER_BYTES];
  const isBetween = limits.answer_bytes >= small && limits.answer_bytes < large;
  const makesImages = [...models.values()].some(({ capabilities }) => capabilities.has('image'));
  if (!isBetween || !makesImages || !source.has(place) || source.unread.has(place)) return;
  source.fault(place, {
    code: 'small_limit',
    message: `limits.answer: ${source.word(place)} is less than an answer with several images has`,
    hint: 'write a larger one, such as 64mb',
    severity: 'warning',
  });
}

/** Reports a model that no endpoint routes to: clients see it in the list, but cannot call it. */
function checkReached(source: Source, file: ReadFile): void {
  const { models, endpoints, modalities } = file;
  const reached = new Set<unknown>();
  for (const { stages } of endpoints) {
    for (const { name, option } of stages) {
      if (name === 'route') reached.add(capabilityOf(option));
    }
  }
  const all = [...modalities.keys()];
  for (const { id, capabilities } of models.values()) {
    const own = all.filter((name) => capabilities.has(name as never));
    const missing = own.filter((name) => !reached.has(name));
    if (missing.length === 0) continue;
    source.fault(`/models${join(id)}`, {
      code: 'unreached_model',
      message: `no endpoint serves the capability ${quote(missing[0] ?? '')} of ${quote(id)}`,
      hint: removedHint(file, missing[0]) ?? `an endpoint with ${routeTo(missing[0])} does`,
      at: 'key',
      severity: missing.length === own.length ? 'error' : 'warning',
    });
  }
}

function routeTo(capability = ''): string {
  return `route: { capability: ${capability} }`;
}
