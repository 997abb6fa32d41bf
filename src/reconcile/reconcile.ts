import { EXPORT_CLASSES, type ExportClass, type ExportFormat } from '../core/provider-export.js';
import type { Configuration } from '../core/configuration.js';
import { formatDollars } from '../lib/money.js';
import type {
  AbortedDay,
  ReconciliationStore,
  UpstreamDay,
} from '../store/reconcile/reconciliations.js';
import {
  addBilled,
  addCharges,
  addLine,
  allTokens,
  isRounding,
  nothingBilled,
  nothingCharged,
  wholeOfDays,
  type Billed,
  type BilledDay,
  type Charged,
} from './bill-figures.js';
import { causesOf, type ExportFacts } from './causes.js';
import { exportFormats } from './export-formats.js';
import { ExportFault } from './export-row.js';
import { matchModel } from './match-model.js';
import { pricesByModel } from './prices-by-model.js';
import { readExport } from './read-export.js';
import type { Reconciliation, ReportedModel, ReportedSide, UnmatchedName } from './report.js';

export interface ReconcileTerms {
  files: readonly string[];
  /** The form of the files, where their columns are named. */
  named?: ExportFormat;
  /** The entries under `providers`; without any, those whose manifest the form belongs to. */
  providers: readonly string[];
  /** Upstream models by the names that the export has for them. */
  models: ReadonlyMap<string, string>;
  from?: string;
  to?: string;
  tolerance_percent: number;
}

/** The most rows of a model and a day: each takes memory. */
const MAX_GROUPS = 200_000;
const DAY_MS = 86_400_000;

/**
 * Compares exports of a provider with the ledger, by upstream model and day of UTC. Several files,
 * such as one of usage and one of costs, are read as one.
 */
export async function reconcile(
  terms: ReconcileTerms,
  configuration: Configuration,
  store: ReconciliationStore,
  now_ms: number,
): Promise<Reconciliation> {
  const bill = await readBill(terms);
  const providers = providersOf(terms, bill, configuration);
  const { first_day, last_day } = bill;
  const range = {
    from_ms: Date.parse(first_day),
    to_ms: Date.parse(last_day) + DAY_MS,
    providers,
  };
  const ledger = ledgerOf(await store.charged(range), bill, configuration, providers);
  const matched = matchBill(bill, ledger.models, terms.models);
  addAborted(ledger, await store.aborted(range), configuration);
  const prices = pricesByModel(configuration, providers);
  const names = new Set([...ledger.models, ...matched.days.keys()]);
  const models = [...names].map((model) => {
    const days = daysOf(model, matched, ledger);
    const price = prices.get(model);
    return { model, names: matched.names.get(model) ?? [], days, price };
  });
  const told = models
    .filter(({ days }) => days.length > 0)
    .map(({ model, names, days, price }) => ({
      model,
      names: names.filter((name) => name !== model),
      ...reported(days, bill, terms.tolerance_percent),
      causes: causesOf(days, bill, price),
      days: days.map((day) => ({ day: day.day, ...comparedDays([day], bill) })),
    }))
    .sort((a, b) => sizeOf(b) - sizeOf(a) || (a.model < b.model ? -1 : 1));
  const all = [...models.flatMap(({ days }) => days), ...matched.unmatched.values()];
  const whole = reported(all, bill, terms.tolerance_percent);
  return {
    made: new Date(now_ms).toISOString(),
    files: [...terms.files],
    formats: [...bill.formats].map(({ name }) => name),
    providers: [...providers],
    first_day,
    last_day,
    tolerance_percent: terms.tolerance_percent,
    ...whole,
    within: whole.within && told.every(({ within }) => within),
    models: told,
    unmatched: unmatchedOf(matched, bill),
  };
}

/** What the files have, by the names and the days that they have. */
interface Bill extends ExportFacts {
  formats: ReadonlySet<ExportFormat>;
  /** By name, then by day. */
  names: ReadonlyMap<string, ReadonlyMap<string, Billed>>;
  first_day: string;
  last_day: string;
}

async function readBill({ files, named, from, to }: ReconcileTerms): Promise<Bill> {
  const formats = await exportFormats();
  const used = new Set<ExportFormat>();
  const names = new Map<string, Map<string, Billed>>();
  const has = { has_costs: false, has_calls: false };
  const costed = new Set<ExportClass>();
  let groups = 0;
  let [first, last] = [from ?? '9999-12-31', to ?? '0000-01-01'];
  for (const file of files) {
    for await (const { format, line } of readExport(file, { formats, ...(named && { named }) })) {
      if (format) used.add(format);
      const { day, model, cost_nano, calls } = line;
      if ((from !== undefined && day < from) || (to !== undefined && day > to)) continue;
      if (from === undefined && day < first) first = day;
      if (to === undefined && day > last) last = day;
      if (model === undefined) continue;
      has.has_costs ||= cost_nano !== undefined;
      has.has_calls ||= calls !== undefined;
      if (line.class) costed.add(line.class);
      const days = names.get(model) ?? new Map<string, Billed>();
      names.set(model, days);
      let sum = days.get(day);
      if (!sum) {
        sum = nothingBilled();
        days.set(day, sum);
        groups += 1;
        if (groups > MAX_GROUPS) {
          throw new ExportFault(`${file}: the export has more than ${MAX_GROUPS} models and days`);
        }
      }
      addLine(sum, line);
    }
  }
  if (names.size === 0) {
    const within = from === undefined && to === undefined ? '' : ' within these days';
    throw new ExportFault(`${files.join(', ')}: there is no usage of models${within}`);
  }
  const classes = EXPORT_CLASSES.filter((name) =>
    [...used].some((format) => format.classes.includes(name)),
  );
  const days = { first_day: first, last_day: last };
  const facts = { classes, costed: EXPORT_CLASSES.filter((name) => costed.has(name)), ...has };
  return { formats: used, names, ...facts, ...days };
}

/** Throws `ExportFault` where the file does not decide which entries it is the bill of. */
function providersOf(
  { files, providers }: ReconcileTerms,
  { formats }: Bill,
  configuration: Configuration,
): readonly string[] {
  if (providers.length > 0) return providers;
  const manifests = new Set([...formats].flatMap((format) => format.manifests));
  const entries = [...configuration.providers.values()];
  const fitting = entries.filter(({ manifest }) => manifests.has(manifest));
  if (fitting.length > 0) return fitting.map(({ name }) => name);
  const all = entries.map(({ name }) => name).join(', ');
  throw new ExportFault(
    `${files.join(', ')}: gateway.yaml has no provider that this export is from: ` +
      `name one with --provider, of ${all}`,
  );
}

/** What the ledger has, by the upstream's name of the model. */
interface Ledger {
  models: Set<string>;
  days: Map<string, Map<string, Charged>>;
}

/** The name of all models together, where the export does not tell them apart. */
const ALL_MODELS = 'all models';

function ledgerOf(
  charged: readonly UpstreamDay[],
  bill: Bill,
  configuration: Configuration,
  providers: readonly string[],
): Ledger {
  const ledger: Ledger = { models: new Set(), days: new Map() };
  const isOne = [...bill.names.keys()].every((name) => name === '');
  for (const day of charged) {
    const model = isOne ? ALL_MODELS : upstreamName(day, configuration);
    ledger.models.add(model);
    const classes = bill.classes.length > 0 ? bill.classes : bill.costed;
    addCharges(chargedOn(ledger, model, day.day), day, classes);
  }
  if (isOne) ledger.models.add(ALL_MODELS);
  else for (const model of configuredModels(configuration, providers)) ledger.models.add(model);
  return ledger;
}

function chargedOn({ days }: Ledger, model: string, day: string): Charged {
  const of = days.get(model) ?? new Map<string, Charged>();
  days.set(model, of);
  const sum = of.get(day) ?? nothingCharged();
  of.set(day, sum);
  return sum;
}

/**
 * The upstream's name of a model. Charges of older versions have none: theirs is the only one that
 * the model has now at that provider, else the model's own.
 */
function upstreamName(
  { upstream_model, model, provider }: Pick<UpstreamDay, 'upstream_model' | 'model' | 'provider'>,
  { models }: Configuration,
): string {
  if (upstream_model !== null) return upstream_model;
  const upstreams = models.get(model)?.upstreams.filter((one) => one.provider.name === provider);
  const names = new Set(upstreams?.map((one) => one.model));
  const [only] = names;
  return only !== undefined && names.size === 1 ? only : model;
}

function configuredModels({ models }: Configuration, providers: readonly string[]): string[] {
  const upstreams = [...models.values()].flatMap((model) => model.upstreams);
  return upstreams
    .filter(({ provider }) => providers.includes(provider.name))
    .map(({ model }) => model);
}

/** Adds the calls that did not end well to the days that have charges or a bill. */
function addAborted(
  ledger: Ledger,
  aborted: readonly AbortedDay[],
  configuration: Configuration,
): void {
  for (const day of aborted) {
    const model = ledger.models.has(ALL_MODELS) ? ALL_MODELS : upstreamName(day, configuration);
    chargedOn(ledger, model, day.day).aborted += day.calls;
  }
}

interface MatchedBill {
  days: Map<string, Map<string, Billed>>;
  /** The names in the export, by upstream model. */
  names: Map<string, string[]>;
  unmatched: Map<string, BilledDay & { several: readonly string[] }>;
}

function matchBill(
  { names }: Bill,
  known: ReadonlySet<string>,
  told: ReadonlyMap<string, string>,
): MatchedBill {
  const matched: MatchedBill = { days: new Map(), names: new Map(), unmatched: new Map() };
  const models = [...known];
  for (const [name, days] of names) {
    const { model, several = [] } = matchOf(name, models, told);
    if (model === undefined) {
      const billed = nothingBilled();
      for (const sum of days.values()) addBilled(billed, sum);
      matched.unmatched.set(name, { day: '', billed, charged: nothingCharged(), several });
      continue;
    }
    matched.names.set(model, [...(matched.names.get(model) ?? []), name]);
    const of = matched.days.get(model) ?? new Map<string, Billed>();
    matched.days.set(model, of);
    for (const [day, billed] of days) {
      const sum = of.get(day) ?? nothingBilled();
      of.set(day, sum);
      addBilled(sum, billed);
    }
  }
  return matched;
}

function matchOf(
  name: string,
  models: readonly string[],
  told: ReadonlyMap<string, string>,
): ReturnType<typeof matchModel> {
  if (name === '') return models.includes(ALL_MODELS) ? { model: ALL_MODELS } : {};
  const model = told.get(name);
  return model === undefined ? matchModel(name, models) : { model };
}

function daysOf(model: string, matched: MatchedBill, ledger: Ledger): BilledDay[] {
  const billed = matched.days.get(model);
  const charged = ledger.days.get(model);
  const days = new Set([...(billed?.keys() ?? []), ...(charged?.keys() ?? [])]);
  return [...days].sort().flatMap((day) => {
    const both = {
      day,
      billed: billed?.get(day) ?? nothingBilled(),
      charged: charged?.get(day) ?? nothingCharged(),
    };
    return billed?.has(day) || both.charged.calls > 0 ? [both] : [];
  });
}

function reported(days: readonly BilledDay[], facts: ExportFacts, tolerance_percent: number) {
  const compared = comparedDays(days, facts);
  return { ...compared, within: Math.abs(compared.percent) <= tolerance_percent };
}

function comparedDays(days: readonly BilledDay[], facts: ExportFacts) {
  const { billed, charged } = wholeOfDays(days);
  const { has_costs } = facts;
  return {
    bill: sideOf(billed, facts),
    ledger: sideOf(charged, facts),
    difference: has_costs ? formatDollars(billed.cost_nano - charged.cost_nano) : null,
    percent: has_costs ? costPercent(billed, charged) : tokenPercent(billed, charged),
  };
}

function costPercent({ cost_nano: there }: Billed, { cost_nano: here }: Charged): number {
  if (isRounding(there - here)) return 0;
  return percentOf(Number(there - here), Number(there), Number(here));
}

/** The largest difference of a class. */
function tokenPercent(billed: Billed, charged: Charged): number {
  const whole = Math.max(allTokens(billed.tokens), allTokens(charged.tokens));
  return EXPORT_CLASSES.map((name) =>
    percentOf(billed.tokens[name] - charged.tokens[name], whole, 0),
  ).reduce((most, one) => (Math.abs(one) > Math.abs(most) ? one : most), 0);
}

function percentOf(difference: number, one: number, other: number): number {
  const whole = Math.max(Math.abs(one), Math.abs(other));
  return whole === 0 ? 0 : Number(((difference / whole) * 100).toFixed(3));
}

function sideOf(
  { calls, tokens, cost_nano }: Billed | Charged,
  { classes, has_costs, has_calls }: ExportFacts,
): ReportedSide {
  const told = Object.fromEntries(classes.map((name) => [name, tokens[name]]));
  return {
    calls: has_calls ? calls : null,
    tokens: classes.length > 0 ? told : null,
    cost: has_costs ? formatDollars(cost_nano) : null,
  };
}

function sizeOf({ difference, percent }: Pick<ReportedModel, 'difference' | 'percent'>): number {
  return Math.abs(difference === null ? percent : Number(difference));
}

function unmatchedOf({ unmatched }: MatchedBill, facts: ExportFacts): UnmatchedName[] {
  return [...unmatched]
    .map(([name, { billed, several }]) => ({
      name,
      calls: facts.has_calls ? billed.calls : null,
      tokens: facts.classes.length > 0 ? allTokens(billed.tokens) : null,
      cost: facts.has_costs ? formatDollars(billed.cost_nano) : null,
      several: [...several],
    }))
    .sort((a, b) => Number(b.cost ?? b.tokens ?? 0) - Number(a.cost ?? a.tokens ?? 0));
}
