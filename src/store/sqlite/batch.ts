/** Work of one kind, which a transaction does for all that ask for it at once. */
export interface Batch<Item, Value> {
  /** It takes what others may give back, and goes last. */
  readonly runsLast?: true;
  /** Answers in the order of the items. If it throws, all is undone, and each is done alone. */
  runBatch(items: readonly Item[]): readonly Value[];
  /** Throws where this one cannot be done. */
  runOne(item: Item): Value;
}

/** Work that has nothing to do with that of others. */
export const INDEPENDENT: Batch<() => unknown, unknown> = {
  runBatch: (works) => works.map((work) => work()),
  runOne: (work) => work(),
};

/** One who asked a group for work, and waits. */
export interface Member {
  batch: Batch<unknown, unknown>;
  item: unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** Whether its caller must hear only when the disk has it. */
  durable: boolean;
  /** What its caller hears after the commit: what the work answered, or threw. */
  value: unknown;
  failed: boolean;
}

/** The members by what is done together, in the order of the first of each, but takers last. */
export function byBatch(members: readonly Member[]): [Batch<unknown, unknown>, Member[]][] {
  const all = new Map<Batch<unknown, unknown>, Member[]>();
  for (const member of members) {
    const some = all.get(member.batch);
    if (some) some.push(member);
    else all.set(member.batch, [member]);
  }
  return [...all].toSorted(([one], [other]) => rank(one) - rank(other));
}

function rank({ runsLast }: Batch<unknown, unknown>): number {
  return runsLast ? 1 : 0;
}
