/** Work of one kind, done for one who asks alone or for many who stand in one lane. */
export interface KeyedBatch<Item, Value> {
  runOne(item: Item): Promise<Value>;
  /** Answers in the order of the items; undefined where it did nothing, and each is to go alone. */
  runBatch(items: readonly Item[]): Promise<readonly Value[] | undefined>;
}

interface Asked<Item, Value> {
  item: Item;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

/** So many go together at the most. */
const MOST = 64;

/**
 * Those who would wait for each other in the database anyway, as they write the same row, wait here
 * instead: whoever comes while their lane is busy goes together with the others who did, in one
 * trip and one commit. Who finds the lane free goes at once.
 */
export class KeyedBatcher<Item, Value> {
  /** Who waits, by lane; a lane that is free is not there. */
  readonly #lanes = new Map<string, Asked<Item, Value>[]>();

  constructor(private readonly work: KeyedBatch<Item, Value>) {}

  add(lane: string, item: Item): Promise<Value> {
    return new Promise((resolve, reject) => {
      const asked = { item, resolve, reject };
      const waiting = this.#lanes.get(lane);
      if (waiting) waiting.push(asked);
      else void this.#drive(lane, asked);
    });
  }

  async #drive(lane: string, first: Asked<Item, Value>): Promise<void> {
    const waiting: Asked<Item, Value>[] = [];
    this.#lanes.set(lane, waiting);
    for (let some = [first]; some.length > 0; some = waiting.splice(0, MOST)) await this.#do(some);
    this.#lanes.delete(lane);
  }

  async #do(some: readonly Asked<Item, Value>[]): Promise<void> {
    try {
      const isOne = some.length === 1;
      const values = isOne ? undefined : await this.work.runBatch(some.map(({ item }) => item));
      if (!values) await Promise.all(some.map((asked) => this.#alone(asked)));
      else for (const [at, { resolve }] of some.entries()) resolve(values[at] as Value);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }

  async #alone({ item, resolve, reject }: Asked<Item, Value>): Promise<void> {
    try {
      resolve(await this.work.runOne(item));
    } catch (error) {
      reject(error);
    }
  }
}
