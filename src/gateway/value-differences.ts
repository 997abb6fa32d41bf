import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { Model, Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { isAllowed } from '../config/allow-list.js';
import { formatDollars } from '../lib/money.js';
import { isRecord } from '../lib/objects.js';
import { MODALITIES } from '../modalities/index.js';
import { formatDuration, formatSize } from './config-units.js';
import { changeOf, lossOf, type Difference } from './difference.js';
import { START_VALUES } from './start-settings.js';

/** Values that have sentences of their own, or that say only where a file stands. */
const TOLD_ELSEWHERE: readonly string[] = [
  ...START_VALUES,
  'file',
  'directory',
  'public_url',
  'is_public_url_default',
  'cors',
  'headers',
  'dashboard',
  'models',
  'aliases',
  'providers',
  'endpoints',
];
const TOLD_OF_MODELS = [
  'id',
  'owner',
  'capabilities',
  'passthrough',
  'tool_types',
  'limits',
  'price',
  'upstreams',
];
const TOLD_OF_UPSTREAMS = ['provider', 'model', 'weight', 'price'];
const TOLD_OF_ENDPOINTS = ['method', 'path', 'stages', 'place', 'main', 'traits'];
const TOLD_OF_PROVIDERS = ['name', 'base_url'];

/** The fields that clients may send to every model. */
const OWN_FIELDS = new Set(
  [...MODALITIES.values()].flatMap(({ configuration }) => configuration.fields.own),
);

/** A value that differs, at the names that lead to it. */
interface DifferingValue {
  path: readonly string[];
  before: unknown;
  after: unknown;
}

/**
 * Tells every difference of two configurations that no other sentence tells, of settings first. A
 * new key of a configuration is told without a line here. For a reload texts of the file are left
 * out, since a variable of the environment may stand in them.
 */
export function settingValueDifferences(
  before: Configuration,
  after: Configuration,
  isReload: boolean,
): Difference[] {
  const changed = differingValues(before, after, TOLD_ELSEWHERE);
  return changed.map((one) => differenceOf('', one, isReload));
}

/** The same for the entries of `providers` that both have. */
export function providerValueDifferences(
  before: Provider,
  after: Provider,
  isReload: boolean,
): Difference[] {
  const all = differingValues(before, after, TOLD_OF_PROVIDERS);
  // A changed manifest is told by what it changes, unless that is inside its functions alone.
  const named = all.filter(({ path }) => path[0] !== 'manifest_digest');
  const told = named.length > 0 ? named : all;
  return told.map((one) => differenceOf(`provider ${before.name}: `, one, isReload));
}

/** The same for the endpoints at one address. */
export function endpointValueDifferences(
  at: string,
  before: EndpointEntry,
  after: EndpointEntry,
  isReload: boolean,
): Difference[] {
  const all = differingValues(before, after, TOLD_OF_ENDPOINTS);
  return all.map((one) => differenceOf(`endpoint ${at}: `, one, isReload));
}

/** The same for the models that both have, and for their upstreams. */
export function modelValueDifferences(
  before: Model,
  after: Model,
  isReload: boolean,
  hasOwnTerms: (upstream: Upstream) => boolean,
): Difference[] {
  const tell = (name: string) => (one: DifferingValue) =>
    differenceOf(`model ${name}: `, one, isReload);
  const { id } = before;
  const own = differingValues(before, after, TOLD_OF_MODELS);
  const upstreams = before.upstreams.flatMap((upstream) => {
    const next = after.upstreams.find((one) => isSameUpstream(one, upstream));
    if (!next) return [];
    const hasTerms = hasOwnTerms(upstream) || hasOwnTerms(next);
    const [old, now] = hasTerms ? [withTerms(upstream), withTerms(next)] : [upstream, next];
    const changed = differingValues(old, now, TOLD_OF_UPSTREAMS);
    return changed.map(tell(`${id} at ${upstream.provider.name}`)).map((told, i) => {
      const isUnknown = changed[i]?.path[0] === 'drop' && !losesField(before, upstream, next);
      return isUnknown ? changeOf(told.text) : told;
    });
  });
  return [...own.map(tell(id)), ...upstreams];
}

/** An upstream with its timeouts and retries, which are those of its provider by default. */
function withTerms(upstream: Upstream): object {
  const { timeouts, retries } = upstream.provider;
  return { ...upstream, timeouts, retries };
}

/** Whether the new entry leaves out a field that clients could send before. */
function losesField(model: Model, before: Upstream, after: Upstream): boolean {
  const fields = goneFrom(after.drop, before.drop).map(String);
  return fields.some((field) => model.passthrough.has(field) || OWN_FIELDS.has(field));
}

/** Whether two entries of `upstreams` call the same model of the same provider. */
export function isSameUpstream(one: Upstream, other: Upstream): boolean {
  return one.provider.name === other.provider.name && one.model === other.model;
}

/**
 * The values that differ. `omitted` are paths, joined by dots. Functions and the codecs of a
 * manifest are not compared: its digest is.
 */
function differingValues(
  before: object,
  after: object,
  omitted: readonly string[],
  path: readonly string[] = [],
): DifferingValue[] {
  const [olds, news] = [entriesOf(before), entriesOf(after)];
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((name) => {
    const at = [...path, name];
    if (name === 'codec' || omitted.includes(at.join('.'))) return [];
    const [old, now] = [olds.get(name), news.get(name)];
    const isBlock = [old, now].some(hasEntries) && [old, now].every(mayHaveEntries);
    if (isBlock) return differingValues(blockOf(old), blockOf(now), omitted, at);
    if (isSameValue(old, now)) return [];
    return [{ path: at, before: old, after: now }];
  });
}

function entriesOf(block: object): ReadonlyMap<string, unknown> {
  return block instanceof Map ? block : new Map(Object.entries(block));
}

function hasEntries(value: unknown): value is object {
  return isRecord(value) && !(value instanceof Set);
}

function mayHaveEntries(value: unknown): boolean {
  return value === undefined || hasEntries(value);
}

function blockOf(value: unknown): object {
  return hasEntries(value) ? value : {};
}

function isSameValue(before: unknown, after: unknown): boolean {
  if (typeof before === 'function' && typeof after === 'function') return true;
  return jsonOf(before) === jsonOf(after);
}

function jsonOf(value: unknown): string | undefined {
  const plain = value instanceof Set ? [...(value as ReadonlySet<unknown>)] : value;
  // Of what JSON cannot write, the text.
  const isText = (one: unknown): boolean => typeof one === 'bigint' || one === Infinity;
  return JSON.stringify(plain, (_, one: unknown) => (isText(one) ? String(one) : one));
}

/** Paths whose values are secret, or may hold one: the sentence names the path alone. */
const SECRET =
  /^(?:headers|service_account|signer|local)\b|(?:^|\.)(?:client_secret|manifest_digest)$/u;

function differenceOf(
  subject: string,
  { path, before, after }: DifferingValue,
  isReload: boolean,
): Difference {
  const name = path.join('.');
  const loses = LOSSES.some(([places, isLoss]) => places.test(name) && isLoss(before, after));
  const isHidden = SECRET.test(name) || (isReload && [before, after].some(mayHoldSecret));
  const key = path.at(-1) ?? '';
  const told = isHidden
    ? `${nameInFile(path)} changes`
    : (listChange(name, before, after) ??
      `is ${shownValue(key, after)}, ${shownValue(key, before)} before`);
  const text = `${subject}${isHidden ? told : `${nameInFile(path)} ${told}`}`;
  return loses ? lossOf(text) : changeOf(text);
}

function mayHoldSecret(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** Where a change takes something from clients, by its path and its values. */
const LOSSES: readonly [places: RegExp, isLoss: (before: unknown, after: unknown) => boolean][] = [
  // An abandoned answer is read for less long: that costs no client anything.
  [/^limits\.(?!drain|linger)/u, isLess],
  [/(?:^|\.)(?:timeouts|rates)\./u, isLess],
  [/^retries$/u, isLess],
  [/^sign_in\.(?:credit_nano|session\.)/u, isLess],
  [/^requests\.keep/u, isLess],
  // The upstream no longer sees what the client sends in this field.
  [/^set\./u, (_, after) => after !== undefined],
  [/^drop$/u, (before, after) => goneFrom(listOf(after), listOf(before)).length > 0],
  [/^(?:fallback|sign_in\.operators)$/u, (before, after) => hasLost(before, after)],
  [/^sign_in\.allow$/u, (before, after) => shutOut(before, after).length > 0],
  [/^sign_in\.providers\./u, (before, after) => before !== undefined && after === undefined],
];

/** Without a value there is no limit. */
function isLess(before: unknown, after: unknown): boolean {
  const amount = (value: unknown): number => (value === undefined ? Infinity : Number(value));
  return amount(after) < amount(before);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function goneFrom(before: readonly unknown[], after: readonly unknown[]): unknown[] {
  return before.filter((one) => !after.includes(one));
}

function hasLost(before: unknown, after: unknown): boolean {
  return goneFrom(listOf(before), listOf(after)).length > 0;
}

/** The entries of `sign_in.allow` whose people the new list does not let in. */
function shutOut(before: unknown, after: unknown): string[] {
  const allow = listOf(after).map(String);
  const gone = listOf(before).map(String);
  return gone.filter((entry) => !isAllowed(entry, allow));
}

/** Names what a list has lost and gained; undefined for other values, and for another order. */
function listChange(name: string, before: unknown, after: unknown): string | undefined {
  const [olds, news] = [listOf(before), listOf(after)];
  const [gone, added] = [goneFrom(olds, news), goneFrom(news, olds)];
  const isList = [...olds, ...news].every((one) => typeof one === 'string');
  if (!isList || gone.length + added.length === 0) return undefined;
  const shut_out = name === 'sign_in.allow' ? shutOut(before, after) : [];
  return [
    ...(gone.length > 0 ? [`no longer has ${gone.join(', ')}`] : []),
    ...(added.length > 0 ? [`has ${added.join(', ')} now`] : []),
    ...(shut_out.length > 0 ? [`so that ${shut_out.join(', ')} cannot sign in`] : []),
  ].join(', ');
}

/** Names of gateway.yaml that end like a unit. */
const WITH_UNIT = ['image_bytes', 'in_flight_bytes', 'drain_bytes', 'linger_bytes', 'fetch_bytes'];

/** Names of the configuration that gateway.yaml spells in another way. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  timeouts: 'timeout',
  retries: 'retry.attempts',
  manifest: 'uses',
};

/** A path as gateway.yaml writes it: `timeout.first_byte` of `timeouts.first_byte_ms`. */
function nameInFile(path: readonly string[]): string {
  return path
    .filter((name, at) => name !== 'local' && !(at === 1 && path[0] === 'default'))
    .map((name) => {
      const other = OTHER_NAMES[name] ?? name;
      return WITH_UNIT.includes(name) ? name : other.replace(/_(?:ms|bytes|nano)$/u, '');
    })
    .join('.');
}

function shownValue(key: string, value: unknown): string {
  if (value === undefined) return 'none';
  if (typeof value === 'bigint') return formatDollars(value);
  if (typeof value === 'number' && key.endsWith('_ms')) return formatDuration(value);
  if (typeof value === 'number' && key.endsWith('_bytes')) return formatSize(value);
  return typeof value === 'string' ? value : (jsonOf(value) ?? 'none');
}
