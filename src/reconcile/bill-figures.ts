import {
  countedAs,
  EXPORT_CLASSES,
  type ExportClass,
  type ExportLine,
} from '../core/provider-export.js';
import type { UpstreamDay } from '../store/reconcile/reconciliations.js';

export type TokensByClass = Record<ExportClass, number>;

/** What one side has of a model on a day, or of several. */
export interface Figures {
  calls: number;
  tokens: TokensByClass;
  cost_nano: bigint;
}

/** What the bill has. */
export interface Billed extends Figures {
  /** The costs that are for one class alone. */
  cost_by_class: Partial<Record<ExportClass, bigint>>;
}

/** What the ledger has. */
export interface Charged extends Figures {
  /** The part of it whose tokens the gateway counted. */
  estimated: { calls: number; tokens: number };
  /** Calls that failed, were cut, or whose client left, by the records of requests. */
  aborted: number;
}

/** Both sides of a day. */
export interface BilledDay {
  day: string;
  billed: Billed;
  charged: Charged;
}

function noTokens(): TokensByClass {
  return Object.fromEntries(EXPORT_CLASSES.map((name) => [name, 0])) as TokensByClass;
}

export function nothingBilled(): Billed {
  return { calls: 0, tokens: noTokens(), cost_nano: 0n, cost_by_class: {} };
}

export function nothingCharged(): Charged {
  const estimated = { calls: 0, tokens: 0 };
  return { calls: 0, tokens: noTokens(), cost_nano: 0n, estimated, aborted: 0 };
}

export function addLine(sum: Billed, line: ExportLine): void {
  const { calls = 0, tokens = {}, cost_nano = 0n } = line;
  sum.calls += calls;
  sum.cost_nano += cost_nano;
  for (const name of EXPORT_CLASSES) sum.tokens[name] += tokens[name] ?? 0;
  if (line.class && line.cost_nano !== undefined) {
    sum.cost_by_class[line.class] = (sum.cost_by_class[line.class] ?? 0n) + line.cost_nano;
  }
}

/** Adds charges, with their tokens in the classes that the export tells apart. */
export function addCharges(sum: Charged, day: UpstreamDay, classes: readonly ExportClass[]): void {
  sum.calls += day.calls;
  sum.cost_nano += day.cost_nano;
  const tokens = tokensOf(day);
  for (const name of EXPORT_CLASSES) sum.tokens[countedAs(name, classes)] += tokens[name];
  if (day.estimated) {
    sum.estimated.calls += day.calls;
    sum.estimated.tokens += day.prompt_tokens + day.completion_tokens;
  }
}

function tokensOf(day: UpstreamDay): TokensByClass {
  const parts = {
    cached_input: day.cached_tokens,
    cache_write: day.cache_write_tokens,
    cache_write_1h: day.cache_write_1h_tokens,
    audio_input: day.audio_input_tokens,
    image_input: day.image_input_tokens,
  };
  const told = Object.values(parts).reduce((sum, count) => sum + count, 0);
  return {
    input: day.prompt_tokens - told,
    ...parts,
    output: day.completion_tokens - day.audio_output_tokens - day.image_output_tokens,
    audio_output: day.audio_output_tokens,
    image_output: day.image_output_tokens,
  };
}

export function addBilled(sum: Billed, { calls, tokens, cost_nano, cost_by_class }: Billed): void {
  addLine(sum, { day: '', calls, tokens, cost_nano });
  for (const name of EXPORT_CLASSES) {
    const nano = cost_by_class[name];
    if (nano !== undefined) sum.cost_by_class[name] = (sum.cost_by_class[name] ?? 0n) + nano;
  }
}

function addCharged(sum: Charged, { calls, tokens, cost_nano, ...more }: Charged): void {
  sum.calls += calls;
  sum.cost_nano += cost_nano;
  for (const name of EXPORT_CLASSES) sum.tokens[name] += tokens[name];
  sum.estimated.calls += more.estimated.calls;
  sum.estimated.tokens += more.estimated.tokens;
  sum.aborted += more.aborted;
}

/** Both sides of some days together. */
export function wholeOfDays(days: readonly BilledDay[]): BilledDay {
  const whole = { day: '', billed: nothingBilled(), charged: nothingCharged() };
  for (const { billed, charged } of days) {
    addBilled(whole.billed, billed);
    addCharged(whole.charged, charged);
  }
  return whole;
}

/** Half a cent: less is what rounding makes of many amounts, and shown as 0.00. */
const CENT_HALF = 5_000_000n;

export function isRounding(nano: bigint): boolean {
  return nano < CENT_HALF && nano > -CENT_HALF;
}

const OUTPUT: readonly ExportClass[] = ['output', 'audio_output', 'image_output'];

export function promptTokens(tokens: TokensByClass): number {
  const inputs = EXPORT_CLASSES.filter((name) => !OUTPUT.includes(name));
  return inputs.reduce((sum, name) => sum + tokens[name], 0);
}

export function outputTokens(tokens: TokensByClass): number {
  return OUTPUT.reduce((sum, name) => sum + tokens[name], 0);
}

export function allTokens(tokens: TokensByClass): number {
  return promptTokens(tokens) + outputTokens(tokens);
}
