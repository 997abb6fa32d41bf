import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import type { Configuration } from '../core/configuration.js';
import { largestBody, MemoryBudget } from '../http/memory-budget.js';
import { requestInProcess, type OwnReply } from '../http/own-connection.js';
import { endToEnd, isHandshake, refuseHandshake, serveAsHttp } from '../http/upgrade.js';
import { formatOf } from '../pipeline/modality.js';
import type { SocketFormat } from '../pipeline/socket-talk.js';
import { MODALITIES } from '../modalities/index.js';
import { SocketSession } from './socket-session.js';

/** Headers of a handshake that no turn has. */
const OF_HANDSHAKE = /^(?:sec-websocket-|content-|origin$|expect$|idempotency-key$|accept)/u;

/**
 * The WebSockets of a server. Each is served at the path of an endpoint whose format has them; any
 * other upgrade goes on over HTTP, where the router refuses a handshake.
 */
export class WebSockets {
  readonly #open = new Set<SocketSession>();
  readonly #by_account = new Map<string, number>();
  readonly #memory = new MemoryBudget();
  #isRetired = false;

  constructor(
    private readonly server: Server,
    private readonly configuration: () => Configuration,
    private readonly parts: { readonly now: () => number; readonly log: Logger },
  ) {
    server.on('upgrade', (req, socket: Duplex, head) => {
      // Node has removed its own listener: without one, a reset would end the process.
      if (socket.listenerCount('error') === 0) socket.on('error', () => socket.destroy());
      void this.#upgrade(req, socket, head).catch(() => socket.destroy());
    });
  }

  /** The number of sockets that are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes no further socket, and closes all, each as soon as no turn runs on it. */
  retire(): void {
    this.#isRetired = true;
    for (const session of this.#open) session.retire();
  }

  async #upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const format = isHandshake(req) ? this.#formatAt(pathOf(req)) : undefined;
    if (!format || !this.#hasRoom()) return serveAsHttp(this.server, req, socket, head);
    const reply = await this.#ask(req).catch(() => undefined);
    if (!reply || socket.destroyed) return void socket.destroy();
    if (reply.kind === 'answer') return refuseHandshake(socket, reply.answer);
    const { account_id = '' } = reply;
    if (!this.#hasRoom(account_id)) return serveAsHttp(this.server, req, socket, head);
    this.#accept({ req, socket, head }, format, account_id);
  }

  #formatAt(path: string): SocketFormat | undefined {
    const endpoint = this.configuration().endpoints.find((one) => one.path === path);
    return endpoint && formatOf(MODALITIES, endpoint)?.socket;
  }

  #hasRoom(account_id?: string): boolean {
    const { sockets, account_sockets } = this.configuration().limits;
    if (this.#isRetired || this.#open.size >= sockets) return false;
    return account_id === undefined || (this.#by_account.get(account_id) ?? 0) < account_sockets;
  }

  /** Asks the endpoint whether it takes the client's key. */
  #ask(req: IncomingMessage): Promise<OwnReply> {
    const headers = endToEnd(known(req.headers));
    return requestInProcess(this.server, {
      method: 'GET',
      path: req.url ?? '',
      headers: { ...headers, upgrade: 'websocket' },
      client_address: req.socket.remoteAddress,
    }).reply;
  }

  #accept(
    { req, socket, head }: { req: IncomingMessage; socket: Duplex; head: Buffer },
    format: SocketFormat,
    account_id: string,
  ): void {
    const { limits, keep_alive_ms } = this.configuration();
    const { sockets_total_bytes, socket_bytes, socket_age_ms: age_ms, client_ms } = limits;
    const talk = format.open({
      max_bytes: socket_bytes,
      values: limits.body_values,
      memory: () => this.#memory.forRequest(account_id, sockets_total_bytes),
      now: this.parts.now,
    });
    const headers = headersOfTurn(req);
    const send = (body: string) =>
      requestInProcess(this.server, {
        method: 'POST',
        path: req.url ?? '',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        client_address: req.socket.remoteAddress,
        body,
      });
    const acceptor = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: largestBody(limits),
    });
    acceptor.handleUpgrade(req, socket, head, (ws) => {
      const session = new SocketSession(ws, talk, {
        age_ms,
        ping_ms: keep_alive_ms,
        client_ms,
        send,
        log: this.parts.log,
      });
      this.#count(account_id, 1);
      this.#open.add(session);
      ws.on('close', () => {
        this.#open.delete(session);
        this.#count(account_id, -1);
      });
    });
  }

  #count(account_id: string, change: 1 | -1): void {
    const count = (this.#by_account.get(account_id) ?? 0) + change;
    if (count === 0) this.#by_account.delete(account_id);
    else this.#by_account.set(account_id, count);
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** The headers that each turn repeats: those of the handshake that are not about the socket. */
function headersOfTurn({ headers }: IncomingMessage): Record<string, string | string[]> {
  const all = Object.entries(endToEnd(known(headers)));
  const kept = all.filter(([name]) => !OF_HANDSHAKE.test(name));
  return { ...Object.fromEntries(kept), 'content-type': 'application/json' };
}

function known(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Record<string, string | string[]>;
}
