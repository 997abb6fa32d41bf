import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createListener } from './router.js';
import { BoxWatch } from './box-watch.js';
import { ChargeWriter } from '../billing/charge-writer.js';
import { checkOrThrow, type ValidCheck } from './check.js';
import type { Configuration } from '../core/configuration.js';
import { Connections, drain } from './drain.js';
import { factsOf } from './facts.js';
import { Heartbeat } from './heartbeat.js';
import type { Health } from './probes.js';
import { AccessLog, type LogLines } from '../telemetry/access-log.js';
import { RecordQueue } from '../telemetry/record-queue.js';
import type { RecordSink } from '../telemetry/record-sink.js';
import { nameOfProcess } from '../telemetry/boxes.js';
import { ProviderHealth } from '../telemetry/provider-health.js';
import { UpstreamRests } from '../pipeline/upstream-rests.js';
import { MemoryBudget } from '../http/memory-budget.js';
import { refuseMalformed } from '../http/malformed-request.js';
import { textReader } from '../pipeline/modality.js';
import type { Services } from '../pipeline/services.js';
import { MediaReader } from '../lib/media-reader.js';
import { Journal } from '../store/journal/journal.js';
import { openAddressLimits } from '../store/rates/address-limits.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/store-types.js';
import { createPollClient, type PollClient } from '../upstream/poll-client.js';
import {
  createTokenSource,
  pollWithCredentials,
  withCredentials,
} from '../upstream/credentials.js';
import { createNetwork } from '../upstream/network.js';
import type { Network } from '../upstream/network-types.js';
import { inForce, restartKeys } from './start-settings.js';
import { Views } from './views.js';
import { WebSockets } from './web-sockets.js';
import { AdmissionQueue } from '../http/admission-queue.js';
import { InFlightSet } from '../lib/in-flight-set.js';
import { withTimeout } from '../lib/with-timeout.js';
import type { SharedClock } from '../lib/shared-clock.js';
import { MODALITIES } from '../modalities/index.js';

/** How long a client may take to send its headers, and then its whole request. */
const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  // Longer than proxies keep idle connections: else one could close under the next request.
  keepAliveTimeout: 150_000,
  noDelay: true,
  // No route depends on Host, and Node's own refusal has no JSON body.
  requireHostHeader: false,
};

export interface GatewayOptions {
  log: Logger;
  /** The destination of `log`; the access log writes there directly, which is faster. */
  lines?: LogLines;
  now: () => number;
  /** Takes the time of the store's clock, by which processes compare times; `now` without it. */
  clock?: SharedClock;
  random: () => number;
  /** Waits before a call is sent again; a timer without it. */
  pause?: (ms: number) => Promise<void>;
  /** Whether other processes serve the same SQLite file: they share the counters of rates. */
  has_workers?: boolean;
  /** Ends the start while it waits for the store. */
  stopped?: Promise<unknown>;
  /** How long an answer waits for the store before its charge goes to the journal. */
  store_wait_ms?: number;
  /** How long the parts may take to close after the drain. */
  close_ms?: number;
}

/** The time limit of all parts that close after the drain. */
const CLOSE_MS = 10_000;
/** How long the start waits for a PostgreSQL that is away. */
const START_WAIT_MS = 60_000;
/** How long requests may still come on connections that a proxy keeps. */
const LAST_REQUEST_MS = 1_000;

export { checkOrThrow, type ValidCheck };

/**
 * The most connections that wait to be accepted, if the system allows as many. A client whose
 * connection finds no room tries again after one second, then two, then four.
 */
const BACKLOG = 4_096;

/**
 * The composition root: connects the store, the network and the HTTP server. One configuration
 * serves at a time; `reload` replaces it.
 */
export class Gateway {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #sockets: WebSockets;
  readonly #state: Health = {
    phase: 'serving',
    outdated: undefined,
    store_hangs: false,
    configuration_fault: undefined,
    configuration_reason: undefined,
    restart_keys: [],
    boxes_differ_in: [],
  };
  readonly #inflight: Services['inflight'] = new InFlightSet();
  readonly #admissions = new AdmissionQueue();
  readonly #polls: Services['polls'] = new Map();
  readonly #rate_limiters: Services['rate_limiters'];
  readonly #memory = new MemoryBudget();
  readonly #media = new MediaReader();
  readonly #access_log: AccessLog;
  readonly #records: RecordQueue;
  readonly #sinks: readonly RecordSink[];
  readonly #poll_client: PollClient;
  readonly #health: ProviderHealth;
  readonly #rests: UpstreamRests;
  #configuration: Configuration;
  /** The file as it was read last. */
  #written: Configuration;
  #listener: RequestListener | undefined;
  readonly #charge_writer: ChargeWriter;
  readonly #boxes: BoxWatch;
  readonly #heartbeat: Heartbeat;
  #resolveOutdated = (): void => undefined;
  /** Resolves when the store needs a newer version: the gateway has to be stopped then. */
  readonly outdated = new Promise<void>((resolve) => (this.#resolveOutdated = resolve));

  private constructor(
    checked: ValidCheck,
    readonly store: Store,
    private network: Network,
    private readonly options: GatewayOptions,
    /** Metrics, traces and alerts, as far as gateway.yaml turns them on. */
    readonly views: Views,
  ) {
    this.#configuration = checked.configuration;
    this.#written = checked.configuration;
    this.#health = new ProviderHealth(options.now);
    this.#access_log = new AccessLog(options.log, options.lines, options.now);
    const max = checked.configuration.requests.queue;
    this.#records = new RecordQueue({ store: store.requests, log: options.log, max });
    this.#sinks = [this.#access_log, ...views.sinks];
    this.#rate_limiters = openAddressLimits(store.rates, this.#now);
    const { log, now, random, store_wait_ms: wait_ms } = options;
    this.#rests = new UpstreamRests({ store: store.rests, log, now: this.#now });
    const credentials = { tokens: createTokenSource(now), now };
    this.network = withCredentials(network, credentials);
    this.#poll_client = pollWithCredentials(createPollClient(network), credentials);
    const { journal: folder, limits } = checked.configuration;
    const journal = new Journal(folder, limits.journal_bytes);
    this.#charge_writer = new ChargeWriter({
      store,
      journal,
      log,
      random,
      ...(wait_ms && { wait_ms }),
    });
    this.#boxes = new BoxWatch({
      store,
      charge_writer: this.#charge_writer,
      state: this.#state,
      log,
      now: this.#now,
      own_now: now,
      clock: options.clock,
    });
    this.#heartbeat = new Heartbeat({
      store,
      charge_writer: this.#charge_writer,
      records: this.#records,
      health: this.#health,
      rests: this.#rests,
      boxes: this.#boxes,
      log,
      now: this.#now,
      clock: options.clock,
      configuration: () => this.#configuration,
      onOutdated: (fault) => this.#retire(fault),
    });
    const inner = {
      inflight: this.#inflight,
      memory: this.#memory,
      health: this.#health,
      rests: this.#rests,
      boxes: this.#boxes,
    };
    const outer = {
      charge_writer: this.#charge_writer,
      records: this.#records,
      store,
      state: this.#state,
    };
    this.#server = createServer(SERVER_OPTIONS)
      .on('clientError', (error, socket) => this.#refuse(error, socket))
      .on('connect', (_req, socket) => {
        // Node removes its own listener: without one, a reset would end the process.
        socket.on('error', () => socket.destroy());
        this.#refuse(undefined, socket);
      });
    // Node accepts one connection in each turn of the event loop, so turns must be short meanwhile.
    this.#server.on('connection', () => this.#admissions.expectOther());
    this.#serve(checked);
    this.#connections = new Connections(this.#server);
    this.#sockets = new WebSockets(this.#server, () => this.#configuration, options);
    views.watch(factsOf({ ...inner, ...outer, sockets: this.#sockets }));
  }

  /**
   * Opens the store (and migrates it) and composes the pipelines; `listen` starts the server.
   * Rejects with the error of the store, `WaitEnded` if it was stopped, or the error of a stage
   * that cannot be created.
   */
  static async open(checked: ValidCheck, options: GatewayOptions): Promise<Gateway> {
    const { configuration } = checked;
    const { clock } = options;
    const store = await openStore(configuration.store, {
      now: clock?.now ?? options.now,
      time_zone: configuration.time_zone,
      rates: options.has_workers ? 'store' : 'memory',
      wait_ms: START_WAIT_MS,
      onAway: () => options.log.warn('the store does not answer; waiting for it'),
      onMigrating: (migrations) => options.log.info({ migrations }, 'migrating the store'),
      onOlder: (older) =>
        options.log.warn({ boxes: older.map(nameOfProcess) }, 'waiting until older boxes end'),
      stopped: options.stopped,
    });
    const { connections, idle_connection_ms: idle_ms } = configuration.limits;
    const network = createNetwork({ connections, idle_ms });
    try {
      await clock?.look(() => store.clock());
      const views = await Views.open(configuration, { ...options, store });
      const gateway = new Gateway(checked, store, network, options, views);
      gateway.#boxes.take(configuration);
      await gateway.#charge_writer.open();
      await gateway.#heartbeat.open();
      return gateway;
    } catch (error) {
      // An open store or network would keep the process alive.
      await network.close();
      await store.close();
      throw error;
    }
  }

  /** The time that other processes on the store share. */
  get #now(): () => number {
    return this.options.clock?.now ?? this.options.now;
  }

  /** The configuration in force. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** The configuration as it is written; some of its settings may wait for a restart. */
  get written(): Configuration {
    return this.#written;
  }

  /** The number of requests in flight to upstreams. */
  get inflight(): number {
    return this.#inflight.size;
  }

  /** The bytes of memory that their bodies and answers use. */
  get in_flight_bytes(): number {
    return this.#memory.bytes;
  }

  /**
   * Starts the server. Resolves with its address; the port is the one that the system chose if
   * gateway.yaml says 0. Rejects if the address is in use.
   */
  async listen(): Promise<{ host: string; port: number }> {
    const { host, port } = this.#configuration.listen;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, BACKLOG, resolve);
    });
    this.#heartbeat.start();
    const address = this.#server.address() as AddressInfo;
    return { host, port: address.port };
  }

  /**
   * Replaces the configuration. Requests in flight finish with the one that they began with. What
   * only a start takes up stays as it is.
   */
  reload(checked: ValidCheck): void {
    const configuration = inForce(this.#configuration, checked.configuration);
    this.#state.restart_keys = restartKeys(configuration, checked.configuration);
    this.#written = checked.configuration;
    this.#configuration = configuration;
    this.#records.max = configuration.requests.queue;
    this.#health.keep(configuration.providers);
    this.#boxes.take(configuration);
    this.#serve({ ...checked, configuration });
    this.#state.configuration_fault = undefined;
    this.#state.configuration_reason = undefined;
    this.views.reloaded(configuration);
  }

  /**
   * Reports in `/readyz` that the edited file is not valid: the older one stays in use. Operators
   * see `sentence`, which may have text of the file.
   */
  refuseReload(reason: string, sentence = reason): void {
    this.#state.configuration_fault = reason;
    this.#state.configuration_reason = sentence;
    this.views.refused(reason);
  }

  /**
   * Takes new requests for `drain_delay`, lets those in flight finish within `drain`, then closes
   * all parts. Resolves with false if a part, such as the store, did not close in time: what it
   * still waits for is in the journal, or is left to the next process.
   */
  async stop(): Promise<boolean> {
    const { drain_delay_ms, drain_ms } = this.#configuration;
    this.#state.phase = 'leaving';
    this.#heartbeat.sayLeaving();
    if (drain_delay_ms > 0) await sleep(drain_delay_ms);
    this.#state.phase = drain_delay_ms > 0 ? 'closing' : 'refusing';
    this.#sockets.retire();
    const idle_after_ms = drain_delay_ms > 0 ? LAST_REQUEST_MS : 0;
    await drain(this.#server, this.#connections, this.#inflight, {
      limit_ms: drain_ms,
      idle_after_ms,
    });
    const { log, close_ms = CLOSE_MS } = this.options;
    const isClosed = (await withTimeout(this.#close(), close_ms)) === true;
    if (!isClosed) log.error('the store, or another part, did not close in time');
    return isClosed;
  }

  /** Never rejects. */
  async #close(): Promise<true> {
    try {
      this.#media.close();
      this.#poll_client.close();
      await this.network.close();
      await this.#charge_writer.close();
      await this.#heartbeat.stop();
      await this.#records.close();
      await this.views.close();
      await this.store.close();
    } catch (err) {
      this.options.log.error({ err }, 'the gateway could not be closed in good order');
    }
    return true;
  }

  #retire(fault: string): void {
    if (this.#state.outdated === undefined) this.options.log.error(fault);
    this.#state.outdated = fault;
    this.#resolveOutdated();
  }

  /** From now on new requests go through the endpoints of this configuration. */
  #serve(checked: ValidCheck): void {
    const earlier = this.#listener;
    this.#listener = this.#compose(checked);
    // An unknown `Expect` header is ignored, like any other unknown header.
    for (const event of ['request', 'checkExpectation']) {
      if (earlier) this.#server.off(event, earlier);
      this.#server.on(event, this.#listener);
    }
  }

  #compose({ configuration, stages }: ValidCheck): RequestListener {
    this.#access_log.serve(configuration.endpoints);
    const { store, network, options } = this;
    const { log, random } = options;
    const now = this.#now;
    const shared = {
      inflight: this.#inflight,
      admissions: this.#admissions,
      poll_client: this.#poll_client,
      polls: this.#polls,
      health: this.#health,
      rests: this.#rests,
      pause: this.options.pause ?? sleep,
      rate_limiters: this.#rate_limiters,
      charge_writer: this.#charge_writer,
      memory: this.#memory,
      media: this.#media,
      access_log: this.#access_log,
      records: this.#records,
      sinks: this.#sinks,
    };
    const eachText = textReader(MODALITIES);
    const services = { configuration, store, network, log, now, random, eachText, ...shared };
    return createListener(stages, services, this.#state);
  }

  #refuse(error: NodeJS.ErrnoException | undefined, socket: Duplex): void {
    refuseMalformed(error?.code, socket, () => {
      for (const call of this.#inflight) if (call.isOn(socket)) return true;
      return false;
    });
  }
}
