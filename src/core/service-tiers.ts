import type { Upstream } from './model.js';

/** Tiers by the names of several providers that cost what a price says without tiers. */
const PLAIN_TIERS: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'on_demand',
  'standard',
  'standard_only',
  'unspecified',
]);

/** The short name of a tier, of which Google's API has a longer form too. */
export function shortTier(tier: string): string {
  return tier.toLowerCase().replace(/^service_tier_(?=.)/u, '');
}

/** The service tier that the operator asks for in all calls to an upstream, if any. */
export function setTier({ set }: Pick<Upstream, 'set'>): string | undefined {
  return typeof set.service_tier === 'string' ? set.service_tier : undefined;
}

/** Whether calls in a tier cost what the price says without its tiers. */
export function isPlainTier(tier: string): boolean {
  return PLAIN_TIERS.has(tier);
}
