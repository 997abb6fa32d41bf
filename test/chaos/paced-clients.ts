import { request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { dataOf, INPUT_NANO, OUTPUT_NANO } from '../money/helpers/scripted-gateway.js';

/** How long a client waits for an answer. */
const PATIENCE_MS = 60_000;
/** From the start of a call to the start of the client's next one. */
const PACE_MS = 400;
const VIDEO_SECONDS = 4;
const VIDEO_NANO = 80_000_000n;
/** For accounts without money. */
const FOR_POOR = '402';
/** For a video that no box knows. */
const FORGOTTEN = '400';
/** What a client may see: answers, refusals, and what befalls a killed process. */
const ALLOWED = new Set(['200', '202', '503', 'error event', 'cut by a kill', 'none alive']);

/** An answer that came whole, or a video that was made, and what it costs by its usage. */
export interface Answered {
  id: string;
  account_id: string;
  cost_nano: bigint;
}

/** Whose money clients spend. */
export interface Payer {
  account_id: string;
  secret: string;
  /** How many clients make chat calls, and videos. */
  clients: number;
  videos: number;
  is_poor: boolean;
}

interface Place {
  port: number;
  /** What has become of the connection from that port, which ended without an answer. */
  endOf(client_port: number): string;
}

interface Wanted {
  method: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** `outcome` is the status, or in words what was seen in place of a whole answer. */
interface Seen {
  outcome: string;
  text: string;
}

/** One of the clients: what it does again and again, and since when it has been refused. */
class Client {
  #refused_since_ms: number | undefined;

  constructor(
    readonly payer: Payer,
    readonly takeTurn: (client: Client, turn: number) => Promise<void>,
  ) {}

  get refused_ms(): number {
    return this.#refused_since_ms === undefined ? 0 : performance.now() - this.#refused_since_ms;
  }

  /** Resolves with the time for which it was refused until now. */
  saw(isAnswer: boolean, begun_ms: number): number {
    if (!isAnswer && !this.payer.is_poor) this.#refused_since_ms ??= begun_ms;
    const { refused_ms } = this;
    if (isAnswer) this.#refused_since_ms = undefined;
    return refused_ms;
  }
}

/** Clients that call at a pace, and count what they are answered. */
export class PacedClients {
  readonly answered: Answered[] = [];
  /** How often each status, or what was seen in place of one. */
  readonly statuses = new Map<string, number>();
  /** What no client should see. */
  readonly faults: string[] = [];
  /** Videos that were promised and never came. */
  forgotten = 0;
  longest_refusal_ms = 0;
  readonly #place: Place;
  readonly #running: Promise<void>[];
  #isOver = false;
  /** When a video that has not come does not come any more. */
  #late_ms = Infinity;

  /** `session` is the cookie of somebody who is signed in to the first account. */
  constructor(place: Place, payers: readonly Payer[], session: string) {
    this.#place = place;
    const clients = payers.flatMap((payer, at) => [
      ...Array.from({ length: payer.clients }, () => new Client(payer, this.#chat)),
      ...Array.from({ length: payer.videos }, () => new Client(payer, this.#film)),
      ...(at === 0 ? [new Client(payer, (client) => this.#look(client, session))] : []),
    ]);
    this.#running = clients.map(async (client, at) => {
      await pause((at * PACE_MS) / clients.length);
      await this.#live(client, at);
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#late_ms = performance.now() + PATIENCE_MS;
    await Promise.all(this.#running);
  }

  async #live(client: Client, at: number): Promise<void> {
    for (let turn = at; !this.#isOver || client.refused_ms > 0; turn += 1) {
      const begun = performance.now();
      await client.takeTurn(client, turn);
      if (this.#isOver && client.refused_ms > PATIENCE_MS) return;
      await pause(Math.max(0, PACE_MS - (performance.now() - begun)));
    }
  }

  readonly #chat = async (client: Client, turn: number): Promise<void> => {
    const stream = turn % 2 === 0;
    const messages = [{ role: 'user', content: 'Hi' }];
    const options = stream ? { stream, stream_options: { include_usage: true } } : {};
    const { outcome, text } = await this.#post(client, '/v1/chat/completions', {
      model: 'm',
      messages,
      ...options,
    });
    if (outcome !== '200') return;
    const { id, usage } = JSON.parse(stream ? (dataOf(text).at(-2) ?? '') : text) as {
      id: string;
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    const { prompt_tokens, completion_tokens } = usage;
    const cost_nano = BigInt(prompt_tokens) * INPUT_NANO + BigInt(completion_tokens) * OUTPUT_NANO;
    this.#paid(client, id.replace('chatcmpl-', ''), cost_nano);
  };

  /** Orders a video, and asks for it until it is there. */
  readonly #film = async (client: Client): Promise<void> => {
    const parameters = { duration_seconds: VIDEO_SECONDS };
    const order = { prompt: 'a kite', parameters };
    const ordered = await this.#post(client, '/v1/queue/film', order);
    if (ordered.outcome !== '202') return;
    const { request_id } = JSON.parse(ordered.text) as { request_id: string };
    while (performance.now() < this.#late_ms) {
      const path = `/v1/queue/film/requests/${request_id}`;
      const { outcome, text } = await this.#get(client, path, keyOf(client));
      if (outcome === FORGOTTEN) break;
      const { status } = (outcome === '200' ? JSON.parse(text) : {}) as { status?: string };
      if (status === 'COMPLETED') return this.#paid(client, request_id, VIDEO_NANO);
      if (status === 'FAILED') return void this.faults.push(`a video failed: ${text}`);
      await pause(PACE_MS);
    }
    this.forgotten += 1;
  };

  /** Looks at the account, as a page of the dashboard does. */
  async #look(client: Client, session: string): Promise<void> {
    await this.#get(client, '/api/account', { cookie: `session=${session}` });
  }

  #paid({ payer }: Client, id: string, cost_nano: bigint): void {
    this.answered.push({ id, account_id: payer.account_id, cost_nano });
  }

  #post(client: Client, path: string, body: object): Promise<Seen> {
    const headers = { ...keyOf(client), 'content-type': 'application/json' };
    return this.#ask(client, { method: 'POST', path, headers, body: JSON.stringify(body) });
  }

  #get(client: Client, path: string, headers: Wanted['headers']): Promise<Seen> {
    return this.#ask(client, { method: 'GET', path, headers });
  }

  /** Counts what comes of a request. */
  async #ask(client: Client, wanted: Wanted): Promise<Seen> {
    const begun_ms = performance.now();
    const seen = await this.#send(wanted);
    const { outcome, text } = seen;
    this.statuses.set(outcome, (this.statuses.get(outcome) ?? 0) + 1);
    const isAnswer = outcome === '200' || outcome === '202';
    const refused_ms = client.saw(isAnswer, begun_ms);
    this.longest_refusal_ms = Math.max(this.longest_refusal_ms, refused_ms);
    const isExcused =
      (outcome === FOR_POOR && client.payer.is_poor) ||
      (outcome === FORGOTTEN && wanted.method === 'GET');
    if (!ALLOWED.has(outcome) && !isExcused) {
      this.faults.push(`${wanted.method} ${wanted.path} saw "${outcome}": ${text.slice(0, 300)}`);
    }
    return seen;
  }

  /** On a connection of its own, so that the balancer chooses for each request. */
  #send({ body, ...wanted }: Wanted): Promise<Seen> {
    return new Promise((resolve) => {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const { port } = this.#place;
      const sent = request({ host: '127.0.0.1', port, ...wanted, agent: false, signal });
      let own_port = 0;
      let text = '';
      const onEnd = (): void => {
        resolve({ outcome: signal.aborted ? 'no answer' : this.#place.endOf(own_port), text });
      };
      sent.once('socket', (socket) => {
        socket.once('connect', () => (own_port = socket.localPort ?? 0));
      });
      sent.once('error', onEnd).once('response', (response) => {
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.once('error', onEnd).once('end', () => {
          resolve({ outcome: outcomeOf(response, text), text });
        });
      });
      sent.end(body);
    });
  }
}

function keyOf({ payer }: Client): { authorization: string } {
  return { authorization: `Bearer ${payer.secret}` };
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, text: string): string {
  if (statusCode === 503 && !headers['retry-after']) return '503 without Retry-After';
  if (statusCode !== 200 || !headers['content-type']?.startsWith('text/event-stream')) {
    return String(statusCode);
  }
  const events = dataOf(text);
  if (events.at(-1) === '[DONE]' && !events.at(-2)?.startsWith('{"error"')) return '200';
  return events.some((data) => data.startsWith('{"error"')) ? 'error event' : 'no end';
}
