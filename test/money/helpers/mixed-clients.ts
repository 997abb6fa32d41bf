import { Agent, request, type Dispatcher } from 'undici';
import { startUpstream, type FakeUpstream } from '../../helpers/upstream.js';
import { kindAt, KINDS, upstreamOf, type Kind, type KindName } from './mixed-kinds.js';

/** Calls in flight at once. */
const CLIENTS = 64;

/** A call as its client saw it. */
export interface Seen {
  kind: KindName;
  /** What the answer said that it cost; undefined where it did not say so. */
  cost: string | undefined;
  /** When its client had the whole answer, on the clock of this process. */
  ended_ms: number;
}

/** What all clients have seen. */
export class Tally {
  /** By the request's ID. */
  readonly seen = new Map<string, Seen>();
  /** How often calls of a kind had each status; `none` where no answer had begun. */
  readonly statuses = new Map<string, number>();
  /** Calls that were left before they had an ID. */
  left_early = 0;
  /** Calls that ended as none of their kind should. */
  readonly odd: string[] = [];
  /** Calls that a killed process has not answered whole. */
  broken = 0;

  count(kind: KindName, status: number | 'none'): void {
    const name = `${kind}: ${status}`;
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
  }
}

export interface Place {
  url: string;
  secrets: Readonly<Record<Kind['as'], string>>;
}

/** The clients of a gateway, and its upstreams `one` and `two`. */
export class MixedClients {
  readonly tally = new Tally();
  /** Set while calls may break off, as their process is killed. */
  mayBreak = false;
  readonly #agent = new Agent({ connections: CLIENTS, pipelining: 1 });
  readonly #arrivals = new Map<string, () => void>();
  #sent = 0;

  private constructor(readonly upstreams: Readonly<Record<'one' | 'two', FakeUpstream>>) {}

  static async start(): Promise<MixedClients> {
    const arrived = (call: string): void => clients.#arrivals.get(call)?.();
    const clients = new MixedClients({
      one: await startUpstream(upstreamOf('one', arrived)),
      two: await startUpstream(upstreamOf('two', arrived)),
    });
    return clients;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    for (const upstream of Object.values(this.upstreams)) await upstream.close();
  }

  /** Makes so many calls, or as many as there is time for until `isOver`. */
  async call(place: Place, calls: number, isOver = (): boolean => false): Promise<void> {
    const end = this.#sent + calls;
    const client = async (): Promise<void> => {
      while (this.#sent < end && !isOver()) {
        this.#sent += 1;
        await this.#one(place, this.#sent);
        for (const { requests } of Object.values(this.upstreams)) requests.length = 0;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  async #one(place: Place, at: number): Promise<void> {
    const name = kindAt(at);
    const { manner }: Kind = KINDS[name];
    try {
      if (manner === 'leaves-early') await this.#leaveEarly(place, name, at);
      else if (manner === 'leaves-in-stream') await this.#leaveInStream(place, name, at);
      else await this.#read(place, name, at);
      if (manner === 'sends-twice') await this.#read(place, name, at, 'replayed');
    } catch (error) {
      if (this.mayBreak) this.tally.broken += 1;
      else this.tally.odd.push(`${name} ${at}: ${String(error)}`);
    }
  }

  async #read(place: Place, name: KindName, at: number, seenAs = name): Promise<void> {
    const answer = await this.#send(place, name, at);
    const text = await answer.body.text();
    const { statuses, streamed, code }: Kind = KINDS[seenAs];
    const { statusCode: status } = answer;
    const isWhole = !streamed || text.includes(code === null ? '[DONE]' : `"${code}"`);
    if (!statuses.includes(status) || !isWhole || (code && !text.includes(code))) {
      if (this.mayBreak && !isWhole) throw new Error('The answer broke off.');
      if (name !== 'without a key') this.tally.odd.push(`${name} ${at}: ${status} ${text}`);
    }
    this.#saw(seenAs, answer);
  }

  async #leaveEarly(place: Place, name: KindName, at: number): Promise<void> {
    const stop = new AbortController();
    const arrived = this.#arrival(at);
    const asked = this.#send(place, name, at, stop.signal).then(
      () => this.tally.odd.push(`${name} ${at}: it was answered`),
      () => undefined,
    );
    await Promise.race([arrived, asked]);
    stop.abort();
    await asked;
    this.tally.count(name, 'none');
    this.tally.left_early += 1;
  }

  async #leaveInStream(place: Place, name: KindName, at: number): Promise<void> {
    const answer = await this.#send(place, name, at);
    let text = '';
    // Leaving the loop closes the connection.
    for await (const chunk of answer.body) {
      text += String(chunk);
      if (text.includes('two')) break;
    }
    if (!text.includes('two')) throw new Error(`It ended with ${text}`);
    this.#saw(name, answer);
  }

  /** Resolves when the upstream has that call. */
  #arrival(at: number): Promise<void> {
    return new Promise((resolve) => {
      this.#arrivals.set(String(at), () => {
        this.#arrivals.delete(String(at));
        resolve();
      });
    });
  }

  #send(
    { url, secrets }: Place,
    name: KindName,
    at: number,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { path, body, as, manner }: Kind = KINDS[name];
    const headers: Record<string, string> = {
      authorization: `Bearer ${secrets[as]}`,
      'content-type': 'application/json',
    };
    if (manner === 'sends-twice') headers['idempotency-key'] = `call-${at}`;
    const text = JSON.stringify(body).replace('call 0', `call ${at}`);
    const dispatcher = this.#agent;
    const options = { method: 'POST' as const, headers, body: text, dispatcher };
    return request(`${url}${path}`, { ...options, ...(signal && { signal }) });
  }

  #saw(kind: KindName, { statusCode, headers }: Dispatcher.ResponseData): void {
    this.tally.count(kind, statusCode);
    const cost = headers['tollgate-cost'];
    this.tally.seen.set(String(headers['x-request-id']), {
      kind,
      cost: typeof cost === 'string' ? cost : undefined,
      ended_ms: Date.now(),
    });
  }
}
