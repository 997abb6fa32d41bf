import type { Provider, Timeouts } from '../core/provider.js';
import { memoizeByObject } from '../lib/objects.js';
import type { RetryBlock, TimeoutBlock } from '../schema-types/gateway.js';
import { quote, type Source } from '../yaml/source.js';
import { readDuration } from '../yaml/units.js';
import type { PartialLoad } from '../yaml/validate.js';

/** The blocks `timeout` and `retry` of `defaults`, a provider, a model or an upstream. */
export interface CallTermsBlock {
  timeout?: PartialLoad<TimeoutBlock> | undefined;
  retry?: PartialLoad<RetryBlock> | undefined;
}

/** What a block says of the calls to an upstream. */
export interface CallTerms {
  timeouts: Partial<Timeouts>;
  retries?: number;
  /** The place of `retries`. */
  retry_at: string;
}

/**
 * SDKs wait ten minutes for a whole answer, and a model may reason for minutes between two packets.
 */
export const DEFAULT_TIMEOUTS: Readonly<Timeouts> = {
  connect_ms: 5_000,
  first_byte_ms: 600_000,
  idle_ms: 300_000,
  total_ms: 600_000,
};
export const DEFAULT_RETRIES = 1;

const PHASES = ['connect', 'first_byte', 'idle', 'total'] as const;

/** The times of the phases that a `timeout` names. */
export function readTimeouts(
  source: Source,
  pointer: string,
  block: PartialLoad<TimeoutBlock> = {},
): Partial<Timeouts> {
  const times = PHASES.flatMap((phase) => {
    const text = block[phase];
    if (text === undefined) return [];
    const bounds = { default: DEFAULT_TIMEOUTS[`${phase}_ms`], min: 1 };
    return [[`${phase}_ms`, readDuration(source, `${pointer}/${phase}`, text, bounds)] as const];
  });
  return Object.fromEntries(times);
}

export function readCallTerms(
  source: Source,
  pointer: string,
  { timeout, retry }: CallTermsBlock,
): CallTerms {
  const retries = retry?.attempts;
  return {
    timeouts: readTimeouts(source, `${pointer}/timeout`, timeout),
    ...(retries !== undefined && { retries }),
    retry_at: `${pointer}/retry/attempts`,
  };
}

/** Reports a retry at an upstream that bills the calls that failed. */
export function checkRetry(
  source: Source,
  { name, bills_errors }: Pick<Provider, 'name' | 'bills_errors'>,
  { retries = 0, retry_at }: CallTerms,
): void {
  if (!bills_errors || retries === 0) return;
  source.fault(retry_at, {
    code: 'billed_retry',
    message: `retry: ${quote(name)} bills calls that it answers with an error (bills_errors)`,
    hint: 'write attempts: 0, or remove bills_errors if that is not so',
  });
}

/** The provider with the terms of a model or an upstream. Upstreams of equal terms share one. */
export function providerWithTerms(
  provider: Provider,
  { timeouts, retries }: Omit<CallTerms, 'retry_at'>,
): Provider {
  if (Object.keys(timeouts).length === 0 && retries === undefined) return provider;
  const variants = variantsOf(provider);
  const key = JSON.stringify([timeouts, retries]);
  const known = variants.get(key);
  if (known) return known;
  const own = { timeouts: { ...provider.timeouts, ...timeouts } };
  const variant = { ...provider, ...own, ...(retries !== undefined && { retries }) };
  variants.set(key, variant);
  return variant;
}

const variantsOf = memoizeByObject<Provider, Map<string, Provider>>(() => new Map());
