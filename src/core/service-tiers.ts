/** Tiers by the names of several providers that cost what a price says without tiers. */
const PLAIN_TIERS: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'on_demand',
  'standard',
  'standard_only',
  'unspecified',
]);

/** Whether calls in a tier cost what the price says without its tiers. */
export function isPlainTier(tier: string): boolean {
  return PLAIN_TIERS.has(tier);
}
