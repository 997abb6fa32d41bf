/** Takes a packet; where it answers a promise, the next one waits for that. */
export type Taker = (packet: Buffer) => Promise<void> | undefined;

/** What a reader of each packet wants of the body: more, or, after a fault of its own, nothing. */
interface Body {
  goOn(): void;
  leave(): void;
}

/** The reader of each packet, and how it hears of the end. */
export class PacketConsumer {
  /** It is not done yet with the packet that it has. */
  isBusy = false;
  readonly #take: Taker;
  readonly #body: Body;

  constructor(
    take: Taker,
    body: Body,
    readonly resolve: () => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.#take = take;
    this.#body = body;
  }

  give(packet: Buffer): void {
    try {
      const wait = this.#take(packet);
      if (wait) this.#await(wait);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #await(wait: Promise<void>): void {
    this.isBusy = true;
    wait.then(
      () => {
        this.isBusy = false;
        this.#body.goOn();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  #giveUp(error: unknown): void {
    this.reject(error);
    this.#body.leave();
  }
}
