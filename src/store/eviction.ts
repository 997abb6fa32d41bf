/** What an account keeps of one kind. */
export interface Weight {
  account_id: string | null;
  /** Of calls that cost nothing. */
  free: boolean;
  bytes: number;
}

/** Which account is to give up its oldest, of what costs nothing alone or of all, and how much. */
export interface Excess {
  account_id: string | null;
  only_free: boolean;
  bytes: number;
}

/** What costs nothing may take up so much of all. */
const FREE_PART = 0.1;

/**
 * Who gives up what where too much is kept: what is free first goes down to its small part, then
 * all of it to its whole. Those that keep the most give up first, down to one level, so that no one
 * makes room for another that keeps more. Undefined where nothing is too much.
 */
export function excessOf(weights: readonly Weight[], total_bytes: number): Excess | undefined {
  const free = weights.filter((one) => one.free);
  const among = (some: readonly Weight[], most: number, only_free: boolean) => {
    const found = heaviest(some, most);
    return found && { ...found, only_free };
  };
  return (
    among(free, Math.floor(total_bytes * FREE_PART), true) ?? among(weights, total_bytes, false)
  );
}

/** The account that keeps the most, and what of it is above the level that all fit under. */
function heaviest(weights: readonly Weight[], most: number): Omit<Excess, 'only_free'> | undefined {
  const sums = new Map<string | null, number>();
  for (const { account_id, bytes } of weights) {
    sums.set(account_id, (sums.get(account_id) ?? 0) + bytes);
  }
  const sorted = [...sums].sort(([, a], [, b]) => a - b);
  let left = most;
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
