import { readShippedSchema } from '../lib/schemas.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { foreignKeyHint } from '../yaml/foreign.js';
import { flow } from '../yaml/schema-walk.js';
import { quote } from '../yaml/source.js';
import type { StageEntry } from '../core/configuration.js';

/** Stages that have another name now. */
const RENAMED: ReadonlyMap<string, string> = new Map([['picture', 'hosted-image']]);

/** The first string of an option, for the suggestion. */
export function wordOf(option: unknown): string {
  if (typeof option === 'string') return option;
  const values = typeof option === 'object' && option !== null ? Object.values(option) : [];
  return values.find((value) => typeof value === 'string') ?? '';
}

/** The hint for the name of a stage that there is not. */
export function stageHint(name: string, known: readonly string[]): string {
  const [, stage = '', option = ''] = /^([a-z-]+):(\S.*)$/.exec(name) ?? [];
  if (known.includes(stage)) return `put a space behind the colon: ${stage}: ${option}`;
  if (name.includes('/') && !name.startsWith('@')) return `did you mean "./${name}"?`;
  const renamed = RENAMED.get(name);
  if (renamed !== undefined) return `its name is ${quote(renamed)} now`;
  const settings: object = readShippedSchema('gateway').properties;
  if (Object.hasOwn(settings, name))
    return `it is a setting: ${name}: stands at the top of the file`;
  if (/rate|throttle|rpm|tpm/i.test(name)) {
    const rates = 'rates: { key: { requests_per_minute: 60 } }';
    return `its name is "limit", and ${rates} says how much it allows`;
  }
  const foreign = foreignKeyHint(name, 'GatewayFile', undefined);
  if (foreign !== undefined && !foreign.includes('VALUE')) return foreign;
  const hint = didYouMean(name, known);
  const isNear = nearestWord(name, known) !== undefined;
  const own = 'one of your own is written as a path, ./FILE.js, or is a package that is installed';
  return isNear || hint === '' ? hint : `${hint}; ${own}`;
}

/** The nearest of some words, or all of them. */
export function didYouMean(wrong: string, choices: readonly string[]): string {
  const near = nearestWord(wrong, choices);
  if (near !== undefined) return `did you mean "${near}"?`;
  return choices.length > 0 ? `one of ${choices.join(', ')}` : '';
}

/** A stage as it is written in a list. */
export function entryText({ name, option }: StageEntry): string {
  return option === undefined || option === null ? name : `${name}: ${flow(option)}`;
}
