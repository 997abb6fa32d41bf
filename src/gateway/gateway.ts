import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { createApp, type Handler } from './router.js';
import { Settler } from '../billing/hold.js';
import { sound, type Sound } from './check.js';
import type { Configuration } from '../core/configuration.js';
import { Connections, drain } from './drain.js';
import { factsOf } from './facts.js';
import { PriceNotes } from './price-notes.js';
import type { Health } from './probes.js';
import { AccessLog, type LogLines } from '../telemetry/access-log.js';
import { RecordQueue } from '../telemetry/record-queue.js';
import { RequestRecorder } from '../telemetry/request-recorder.js';
import { ProviderHealth } from '../telemetry/provider-health.js';
import { Memory } from '../http/memory-budget.js';
import { refuseMalformed } from '../http/malformed-request.js';
import { textReader } from '../pipeline/modality.js';
import type { Services } from '../pipeline/services.js';
import { createRateLimiters } from '../lib/rate-limiter.js';
import { Journal } from '../store/journal/journal.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/store-types.js';
import { createPollClient, type PollClient } from '../upstream/poll-client.js';
import {
  pollWithSignatures,
  withSignatures,
  pollWithTokens,
  createTokenSource,
  withTokens,
} from '../upstream/credentials.js';
import { createNetwork } from '../upstream/network.js';
import type { Network } from '../upstream/network-types.js';
import { Views } from './views.js';
import { InFlightSet } from '../lib/in-flight.js';
import { MODALITIES } from '../modalities/index.js';
import { logExpired } from '../modalities/video/log-expired.js';

/** How often a process says that it lives and looks for the holds of those that do not. */
const BEAT_MS = 10_000;
/** After a failed one sooner, to learn that the store is back. */
const BEAT_AGAIN_MS = 1_000;
/** A client must send its headers, and then its whole body, within these. */
const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  // Longer than proxies keep theirs: closed earlier, it would be closed under a call now and then.
  keepAliveTimeout: 150_000,
  noDelay: true,
  // Nothing here depends on it, and Node's own refusal has no body.
  requireHostHeader: false,
};

export interface GatewayOptions {
  log: Logger;
  /** The destination of `log`; the access log writes there directly, which is faster. */
  lines?: LogLines;
  now: () => number;
  random: () => number;
  /** How long an answer waits for the store before its charge goes to the journal. */
  store_wait_ms?: number;
}

export { sound, type Sound };

/** The composition root: a store, a network and a server around one configuration at a time. */
export class Gateway {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #state: Health = { draining: false, configuration_fault: undefined };
  readonly #inflight: Services['inflight'] = new InFlightSet();
  readonly #polls: Services['polls'] = new Map();
  readonly #rate_limiters: Services['rate_limiters'];
  readonly #memory = new Memory();
  readonly #access_log: AccessLog;
  readonly #records: RecordQueue;
  readonly #recorder: RequestRecorder;
  readonly #poll_client: PollClient;
  readonly #health: ProviderHealth;
  #configuration: Configuration;
  #handler: Handler;
  readonly #settler: Settler;
  readonly #price_notes: PriceNotes;
  #timer: NodeJS.Timeout | undefined;
  #isSweeping = false;
  /** The error of the last heartbeat, logged once and not at every beat. */
  #beatFault = '';

  private constructor(
    checked: Sound,
    readonly store: Store,
    private network: Network,
    private readonly options: GatewayOptions,
    /** Metrics and the like, as gateway.yaml turns them on. */
    readonly views: Views,
  ) {
    this.#configuration = checked.configuration;
    this.#health = new ProviderHealth(options.now);
    this.#access_log = new AccessLog(options.log, options.lines, options.now);
    const most = checked.configuration.requests.queue;
    this.#records = new RecordQueue({ store: store.requests, log: options.log, most });
    this.#recorder = new RequestRecorder([this.#access_log, this.#records, ...views.sinks]);
    this.#rate_limiters = createRateLimiters(options.now);
    this.#price_notes = new PriceNotes(store.prices);
    const { log, now, random, store_wait_ms: wait_ms } = options;
    const google = createTokenSource(now);
    this.network = withSignatures(withTokens(network, google), now);
    const poll_client = pollWithTokens(createPollClient(network), google);
    this.#poll_client = pollWithSignatures(poll_client, now);
    const { journal: folder, limits } = checked.configuration;
    const journal = new Journal(folder, limits.journal_bytes);
    this.#settler = new Settler({ store, journal, log, random, ...(wait_ms && { wait_ms }) });
    this.#handler = this.#compose(checked);
    const inner = { inflight: this.#inflight, memory: this.#memory, health: this.#health };
    const outer = { settler: this.#settler, records: this.#records, store, state: this.#state };
    views.watch(factsOf({ ...inner, ...outer }));
    const handle: RequestListener = (req, res) => void this.#handler(req, res);
    this.#server = createServer(SERVER_OPTIONS, handle)
      .on('clientError', (error, socket) => this.#refuse(error, socket))
      .on('connect', (_req, socket) => {
        // Node lets go of such a socket: with no listener, a reset would end the process.
        socket.on('error', () => socket.destroy());
        this.#refuse(undefined, socket);
      })
      // Headers that mean nothing here are ignored, and so is an unknown expectation.
      .on('checkExpectation', handle);
    this.#connections = new Connections(this.#server);
  }

  /** Opens the store (with its migrations) and makes the pipelines. Nothing listens yet. */
  static async open(checked: Sound, options: GatewayOptions): Promise<Gateway> {
    const { configuration } = checked;
    const store = await openStore(configuration.store, { now: options.now });
    const { connections, idle_connection_ms: idle_ms } = configuration.limits;
    const network = createNetwork({ connections, idle_ms });
    try {
      const views = await Views.open(configuration, { ...options, store });
      const gateway = new Gateway(checked, store, network, options, views);
      await gateway.#settler.open();
      if (await gateway.#beat()) await gateway.#sweep();
      return gateway;
    } catch (error) {
      // A stage may refuse to be made; what is open by then would keep the process alive.
      await network.close();
      await store.close();
      throw error;
    }
  }

  get configuration(): Configuration {
    return this.#configuration;
  }

  /** How many calls are on their way to upstreams. */
  get inflight(): number {
    return this.#inflight.size;
  }

  /** The memory that their bodies and answers use. */
  get in_flight_bytes(): number {
    return this.#memory.bytes;
  }

  /** Starts to take requests; answers the address, whose port may have been left open. */
  async listen(): Promise<{ host: string; port: number }> {
    const { host, port } = this.#configuration.listen;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    this.#beatLater(BEAT_MS);
    const address = this.#server.address() as AddressInfo;
    return { host, port: address.port };
  }

  /**
   * Takes up another configuration: in-flight requests finish on the one they began with. The
   * address and the store stay as they are until a restart.
   */
  reload(checked: Sound): void {
    this.#configuration = checked.configuration;
    this.#records.most = checked.configuration.requests.queue;
    this.#health.keep(checked.configuration.providers);
    this.#handler = this.#compose(checked);
    this.#state.configuration_fault = undefined;
    this.views.reloaded(checked.configuration);
  }

  /** Says in `/readyz` that the file has been edited and cannot be taken up. */
  refuseReload(reason: string): void {
    this.#state.configuration_fault = reason;
    this.views.refused(reason);
  }

  /** Takes no new work, lets running answers finish within `drain`, then closes everything. */
  async stop(): Promise<void> {
    this.#state.draining = true;
    clearTimeout(this.#timer);
    await drain(this.#server, this.#connections, this.#inflight, this.#configuration.drain_ms);
    this.#poll_client.close();
    await this.network.close();
    await this.#settler.close();
    await this.#records.close();
    await this.views.close();
    clearTimeout(this.#timer);
    try {
      await this.store.close();
    } catch (err) {
      this.options.log.error({ err }, 'the store could not be closed in good order');
    }
  }

  #compose({ configuration, stages }: Sound): Handler {
    this.#access_log.serve(configuration.endpoints);
    const { store, network, options } = this;
    const { log, now, random } = options;
    const outlasting = {
      inflight: this.#inflight,
      poll_client: this.#poll_client,
      polls: this.#polls,
      health: this.#health,
      rate_limiters: this.#rate_limiters,
      settler: this.#settler,
      memory: this.#memory,
      access_log: this.#access_log,
      recorder: this.#recorder,
    };
    const eachText = textReader(MODALITIES);
    const services = { configuration, store, network, log, now, random, eachText, ...outlasting };
    return createApp(stages, services, this.#state);
  }

  #refuse(error: NodeJS.ErrnoException | undefined, socket: Duplex): void {
    refuseMalformed(error?.code, socket, () => {
      for (const call of this.#inflight) if (call.isOn(socket)) return true;
      return false;
    });
  }

  #beatLater(wait_ms: number): void {
    const beat = async (): Promise<void> => {
      const isWell = await this.#beat();
      if (this.#state.draining) return;
      this.#beatLater(isWell ? BEAT_MS : BEAT_AGAIN_MS);
      if (isWell) void this.#sweep();
    };
    this.#timer = setTimeout(() => void beat(), wait_ms);
    this.#timer.unref();
  }

  /** Says that this process lives; resolves with whether the store has taken it. */
  async #beat(): Promise<boolean> {
    const { log } = this.options;
    try {
      await this.store.beat(JSON.stringify(this.#health.report()));
      this.#settler.wrote();
      if (this.#beatFault !== '') log.info('the store takes writes again');
      this.#beatFault = '';
      return true;
    } catch (error) {
      this.#settler.wrote(error);
      const fault = String(error);
      if (fault !== this.#beatFault) log.error({ err: error }, 'the store does not take writes');
      this.#beatFault = fault;
      return false;
    }
  }

  /** Also adds to the totals what a killed process has left out of them. */
  async #sweepRequests(): Promise<void> {
    await this.#records.flush();
    const { keep_ms, keep_totals_ms } = this.#configuration.requests;
    const now = this.options.now();
    await this.store.requests.sweep({ records_ms: now - keep_ms, totals_ms: now - keep_totals_ms });
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const { log } = this.options;
    const { limits } = this.#configuration;
    try {
      // The charges of a process that is gone come before the release of its holds.
      const released = (await this.#settler.adopt()) ? await this.store.recover() : 0;
      if (released > 0) log.warn({ released }, 'released the holds of a process that is gone');
      const swept = await this.store.tasks.sweep(limits.task_ms);
      for (const one of swept) logExpired(one, log);
      await this.store.images.sweep();
      await this.store.idempotency.sweep(limits.idempotency_total_bytes);
      await this.store.sign_in.sweep(this.#configuration.sign_in.session);
      await this.#sweepRequests();
      await this.#price_notes.note(this.#configuration);
    } catch (error) {
      log.error({ err: error }, 'the store does not answer');
    } finally {
      this.#isSweeping = false;
    }
  }
}
