/** Writes of one kind, run for one item or for many items of one key. */
export interface KeyedBatch<Item, Value> {
  runOne(item: Item): Promise<Value>;
  /** Values in the order of the items; undefined if it changed nothing and each must run alone. */
  runBatch(items: readonly Item[]): Promise<readonly Value[] | undefined>;
}

interface Waiting<Item, Value> {
  item: Item;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

const MAX_BATCH = 64;

/**
 * Batches items by key. Items of one key write the same row, so the database would run them one
 * after the other anyway. The first item of a key runs at once; items that arrive meanwhile run
 * together afterwards, in one round trip and one commit.
 */
export class KeyedBatcher<Item, Value> {
  /** The waiting items of each busy key. */
  readonly #busy = new Map<string, Waiting<Item, Value>[]>();

  constructor(private readonly work: KeyedBatch<Item, Value>) {}

  add(key: string, item: Item): Promise<Value> {
    return new Promise((resolve, reject) => {
      const entry = { item, resolve, reject };
      const waiting = this.#busy.get(key);
      if (waiting) waiting.push(entry);
      else void this.#drive(key, entry);
    });
  }

  async #drive(key: string, first: Waiting<Item, Value>): Promise<void> {
    const waiting: Waiting<Item, Value>[] = [];
    this.#busy.set(key, waiting);
    for (let batch = [first]; batch.length > 0; batch = waiting.splice(0, MAX_BATCH)) {
      await this.#run(batch);
    }
    this.#busy.delete(key);
  }

  async #run(batch: readonly Waiting<Item, Value>[]): Promise<void> {
    try {
      const isOne = batch.length === 1;
      const values = isOne ? undefined : await this.work.runBatch(batch.map(({ item }) => item));
      if (!values) await Promise.all(batch.map((entry) => this.#runOne(entry)));
      else for (const [at, { resolve }] of batch.entries()) resolve(values[at] as Value);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #runOne({ item, resolve, reject }: Waiting<Item, Value>): Promise<void> {
    try {
      resolve(await this.work.runOne(item));
    } catch (error) {
      reject(error);
    }
  }
}
