import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { serve, serveBy, type GatewayProcess } from '../money/helpers/gateway-process.js';
import { pricedYaml } from '../money/helpers/priced-yaml.js';

interface Surroundings {
  folder: string;
  upstream: string;
  store: string;
  /** Arguments of each `serve`. */
  args: readonly string[];
}

/** Processes of `serve` on one store, each with a journal of its own. */
export class Boxes {
  readonly #running: (GatewayProcess | undefined)[] = [];
  readonly #at: Surroundings;
  /** How those ended that were asked to stop. */
  readonly exits: unknown[] = [];

  constructor(at: Surroundings) {
    this.#at = at;
  }

  get running(): readonly GatewayProcess[] {
    return this.#running.filter((one) => one !== undefined);
  }

  /** Starts one at a place, by another program where one is named. */
  async start(place: number, main?: string): Promise<void> {
    const { folder, upstream, store, args } = this.#at;
    const config = join(folder, `box-${place}.yaml`);
    const yaml = pricedYaml({ upstream, store, max_tokens: 100 });
    await writeFile(config, `journal: ${join(folder, `journal-${place}`)}\n${yaml}`);
    this.#running[place] = await (main === undefined
      ? serve(config, ...args)
      : serveBy([main], config, ...args));
  }

  /** Ends one without a chance to tidy up, and starts it again. */
  async crash(place: number): Promise<void> {
    await this.#running[place]?.kill();
    await this.start(place);
  }

  /** Lets one end its calls, and starts another one in its place. */
  async replace(place: number): Promise<void> {
    await this.#stopOne(place);
    await this.start(place);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((_, place) => this.#stopOne(place)));
  }

  async kill(): Promise<void> {
    await Promise.all(this.running.map((one) => one.kill()));
  }

  async #stopOne(place: number): Promise<void> {
    const box = this.#running[place];
    if (!box) return;
    this.exits.push(await box.stop());
    this.#running[place] = undefined;
  }
}

/** Gives each connection to the next box that takes it; resolves with its port and its end. */
export async function startBalancer(boxes: Boxes): Promise<{ port: number; close(): void }> {
  let turn = 0;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const offer = (client: Socket, left: readonly GatewayProcess[]): void => {
    const [box, ...others] = left;
    if (!box) return void client.destroy();
    const server = connect(Number(new URL(box.url).port), '127.0.0.1');
    keep(server);
    const onRefused = (): void => offer(client, others);
    server.once('error', onRefused).once('connect', () => {
      server.off('error', onRefused);
      client.pipe(server).pipe(client);
      client.on('close', () => server.destroy());
      server.on('close', () => client.destroy());
    });
  };
  const server = createServer((client) => {
    keep(client);
    turn += 1;
    const all = boxes.running;
    const first = turn % Math.max(all.length, 1);
    offer(client, [...all.slice(first), ...all.slice(0, first)]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
