/** The stored bytes of an account, free or paid. */
export interface Weight {
  account_id: string | null;
  /** Whether the calls cost nothing. */
  free: boolean;
  bytes: number;
}

/** The account to evict from, how many bytes, and whether only free items count. */
export interface Excess {
  account_id: string | null;
  only_free: boolean;
  bytes: number;
}

/** The share of the total that items of free calls may use. */
const FREE_PART = 0.1;

/**
 * Chooses the account to evict from, if the items exceed their total. First the free items are cut
 * to their share, then all items to the total. The accounts with the most bytes are cut first, down
 * to one level, so that no account makes room for one that has more. Undefined if all items fit.
 */
export function excessOf(weights: readonly Weight[], total_bytes: number): Excess | undefined {
  const free = weights.filter((one) => one.free);
  const among = (items: readonly Weight[], max_bytes: number, only_free: boolean) => {
    const found = heaviest(items, max_bytes);
    return found && { ...found, only_free };
  };
  return (
    among(free, Math.floor(total_bytes * FREE_PART), true) ?? among(weights, total_bytes, false)
  );
}

/** The account that keeps the most, with its bytes above the level that fits all accounts. */
function heaviest(
  weights: readonly Weight[],
  max_bytes: number,
): Omit<Excess, 'only_free'> | undefined {
  const sums = new Map<string | null, number>();
  for (const { account_id, bytes } of weights) {
    sums.set(account_id, (sums.get(account_id) ?? 0) + bytes);
  }
  const sorted = [...sums].sort(([, a], [, b]) => a - b);
  let left = max_bytes;
  let level = Infinity;
  for (const [at, [, bytes]] of sorted.entries()) {
    const even = left / (sorted.length - at);
    if (bytes > even) {
      level = Math.floor(even);
      break;
    }
    left -= bytes;
  }
  const last = sorted.at(-1);
  if (!last || last[1] <= level) return undefined;
  return { account_id: last[0], bytes: last[1] - level };
}
