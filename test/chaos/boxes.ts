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

/** So long a box that is stopped takes what the balancer has sent to it. */
const DRAIN_DELAY = '500ms';

const VIDEOS = {
  providers: ', sim: { uses: simulator, settings: { video_takes: 500ms }, poll_interval: 200ms }',
  models: `  film:
    owner: acme
    capabilities: [video]
    upstreams: [{ provider: sim }]
    price: { per_video_second: { 720p: { silent: 0.02, audio: 0.02 } } }
    limits: { resolutions: [720p] }
`,
};

/** Processes of `serve` on one store, each with a journal of its own. */
export class Boxes {
  readonly #running: (GatewayProcess | undefined)[] = [];
  readonly #at: Surroundings;
  readonly #killed = new Set<GatewayProcess>();
  /** How those ended that were asked to stop. */
  readonly exits: unknown[] = [];

  constructor(at: Surroundings) {
    this.#at = at;
  }

  /** Those that take calls, and those that were killed and have not been started again. */
  get running(): readonly GatewayProcess[] {
    return this.#running.filter((one) => one !== undefined);
  }

  isKilled(box: GatewayProcess): boolean {
    return this.#killed.has(box);
  }

  /** Starts one at a place, by another program where one is named. */
  async start(place: number, main?: string): Promise<void> {
    const { folder, upstream, store, args } = this.#at;
    const config = join(folder, `box-${place}.yaml`);
    const own = `journal: ${join(folder, `journal-${place}`)}\ndrain_delay: ${DRAIN_DELAY}\n`;
    const yaml = pricedYaml({ upstream, store, max_tokens: 100, ...VIDEOS });
    await writeFile(config, own + yaml);
    this.#running[place] = await (main === undefined
      ? serve(config, ...args)
      : serveBy([main], config, ...args));
  }

  /** Ends one without a chance to tidy up, and starts it again. */
  async crash(place: number): Promise<void> {
    const box = this.#running[place];
    if (box) this.#killed.add(box);
    await box?.kill();
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

  /** No balancer sends to it any more, as it would after a look at its `/readyz`. */
  async #stopOne(place: number): Promise<void> {
    const box = this.#running[place];
    if (!box) return;
    this.#running[place] = undefined;
    this.exits.push(await box.stop());
  }
}

export interface Balancer {
  port: number;
  /** What has become of the connection from a port of a client, which ended without an answer. */
  endOf(client_port: number): string;
  close(): void;
}

/** Gives each connection to the next box that takes it. */
export async function startBalancer(boxes: Boxes): Promise<Balancer> {
  let turn = 0;
  const sockets = new Set<Socket>();
  /** The boxes that the last connection from a port was offered to; the last one has it. */
  const offered = new Map<number, readonly GatewayProcess[]>();
  const isKilled = (box: GatewayProcess): boolean => boxes.isKilled(box);
  const refused = new Set<number>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const offer = (client: Socket, client_port: number, left: readonly GatewayProcess[]): void => {
    const [box, ...others] = left;
    if (!box) {
      refused.add(client_port);
      return void client.destroy();
    }
    offered.set(client_port, [...(offered.get(client_port) ?? []), box]);
    const server = connect(Number(new URL(box.url).port), '127.0.0.1');
    keep(server);
    const onRefused = (): void => offer(client, client_port, others);
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
    const client_port = client.remotePort ?? 0;
    offered.set(client_port, []);
    refused.delete(client_port);
    offer(client, client_port, [...all.slice(first), ...all.slice(0, first)]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    endOf: (client_port) => {
      const all = offered.get(client_port) ?? [];
      if (!refused.has(client_port)) return all.slice(-1).some(isKilled) ? 'cut by a kill' : 'cut';
      return all.every(isKilled) ? 'none alive' : 'refused by all';
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
