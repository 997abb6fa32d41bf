import type { CheckedModel } from '../pipeline/model-check.js';
import type { Source } from '../yaml/source.js';

type Limits = CheckedModel['limits'];

/** Reports limits under which a hold is too small for the charge. */
export function checkLimits({ source, pointer, limits }: CheckedModel): void {
  checkOrders(source, `${pointer}/limits`, limits);
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
