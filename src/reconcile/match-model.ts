/**
 * Finds the upstream model that an export means by a name of its own. The rules go from the strict
 * to the loose, and the first by which a model fits decides; where two fit, neither is taken:
 *
 * 1. the same name;
 * 2. the same without the path or ARN before it, the region and the vendor: `us.vendor.model`;
 * 3. the same without snapshot and version: `-2024-08-06`, `@20250514`, `-v1:0`, `-001`, `-latest`;
 * 4. the same words in any order: `Claude4.6Sonnet` is `claude-sonnet-4-6`;
 * 5. the words stand in a description, the longest name first: `Gemini 2.5 Flash GA Text Input`.
 */
export function matchModel(name: string, models: readonly string[]): Match {
  for (const formOf of FORMS) {
    const wanted = formOf(name);
    const found = models.filter((model) => formOf(model) === wanted);
    if (found.length > 0) return onlyOf(found);
  }
  return onlyOf(describedModels(name, models));
}

/** `several` fit equally well; without either, none does. */
export interface Match {
  model?: string;
  several?: readonly string[];
}

function onlyOf(found: readonly string[]): Match {
  const [model] = found;
  if (model === undefined) return {};
  return found.length === 1 ? { model } : { several: found };
}

const FORMS: readonly ((name: string) => string)[] = [
  (name) => name,
  bareName,
  nameOfLine,
  (name) =>
    wordsOf(nameOfLine(hyphenated(name)))
      .toSorted()
      .join(' '),
];

const REGION = /^(?:us-gov|us|eu|apac|global|jp|au|ca|sa|me|af|il|uk)\./u;
const VENDOR = /^[a-z0-9-]+\.(?=[a-z])/u;

/** Without path, ARN, region, vendor and the variant behind a colon, in lower case. */
function bareName(name: string): string {
  const last = name.toLowerCase().slice(name.lastIndexOf('/') + 1);
  return last
    .replace(REGION, '')
    .replace(VENDOR, '')
    .replace(/:[a-z][a-z-]*$/u, '');
}

const SNAPSHOTS = [
  /-v\d+(?::\d+)*$/u,
  /:\d+$/u,
  /[-@](?:20\d\d-?[01]\d-?[0-3]\d|[01]\d-[0-3]\d|[01]\d-20\d\d|\d{3,4})$/u,
  /-(?:latest|preview|exp)$/u,
];

/** Without snapshot and version. */
function nameOfLine(name: string): string {
  let line = bareName(name);
  for (let before = ''; before !== line;) {
    before = line;
    for (const ending of SNAPSHOTS) line = line.replace(ending, '');
  }
  return line;
}

/** `NovaLite` as `Nova-Lite`. */
function hyphenated(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/gu, '$1-$2');
}

/** `claude-sonnet-4-6` and `Claude4.6Sonnet` have the same words, in another order. */
function wordsOf(name: string): readonly string[] {
  return name.toLowerCase().match(/[a-z]+|\d+/gu) ?? [];
}

/** Words that make another model of the one before them. */
const VARIANTS = new Set('lite mini nano live tts ultra pro image embedding'.split(' '));
/** Words of the kind of input or output that follow a model: `Flash Image Input`. */
const SIDES = new Set(['input', 'output']);

function describedModels(description: string, models: readonly string[]): string[] {
  const words = wordsOf(description);
  const named = models
    .map((model) => ({ model, own: wordsOf(nameOfLine(model)) }))
    .filter(({ own }) => own.length > 1 && standsIn(own, words));
  const longest = Math.max(...named.map(({ own }) => own.length));
  return named.filter(({ own }) => own.length === longest).map(({ model }) => model);
}

/** Whether the words follow each other there, and no variant follows them. */
function standsIn(own: readonly string[], words: readonly string[]): boolean {
  return words.some((_, at) => {
    if (!own.every((word, next) => words[at + next] === word)) return false;
    const [after = '', then = ''] = words.slice(at + own.length);
    return !VARIANTS.has(after) || SIDES.has(then);
  });
}
