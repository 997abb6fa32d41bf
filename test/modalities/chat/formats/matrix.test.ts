import { expect } from 'chai';
import type { LedgerEntry } from '../../../../src/store/ledger/ledger-columns.js';
import { ask } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { play, startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';
import {
  COMPLETION_TOKENS,
  PROMPT_TOKENS,
  SYSTEM,
  TEXT,
  TOKENS,
  TOOL,
  type Arrived,
  type Question,
  type Told,
  type Turn,
} from './helpers/conversation-parts.js';
import { FORMAT_CLIENTS, type FormatClient } from './helpers/format-clients.js';
import { SIGNATURE } from './helpers/wires/wire-fake.js';
import { WIRE_FAKES } from './helpers/wires/wire-fakes.js';

const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const RESULT = '−3 °C ❄';
const CALLS = [
  { name: TOOL.name, args: { city: 'Oslo', fact: 'weather' } },
  { name: TOOL.name, args: { city: 'Oslo', fact: 'time "now"' } },
];
const DUE_NANO = BigInt(TOKENS.fresh * 3_000 + TOKENS.cached * 300 + COMPLETION_TOKENS * 15_000);

/** One cell of the matrix. */
interface Place {
  format: FormatClient;
  wire: string;
  stream: boolean;
}

/** A call of one client through one wire, and the answer. */
interface Exchange {
  body: Record<string, unknown>;
  arrived: Arrived;
  told: Told;
  /** What the header `tollgate-ignored` names. */
  ignored: string | null;
}

describe('each client format through each provider wire', () => {
  const fakes = new Map<string, FakeUpstream>();
  /** How each wire carried a format and a feature, row by row. */
  const matrix = new Map<string, Map<string, string>>();
  let next: Turn = {};
  let gateway: TestGateway;

  before(async () => {
    for (const [name, wire] of Object.entries(WIRE_FAKES)) {
      const fake = await startUpstream((received, response) =>
        play(wire.answer(next, received), response),
      );
      fakes.set(name, fake);
    }
    gateway = await startGateway(yaml(fakes));
  });
  after(async () => {
    await gateway.close();
    for (const fake of fakes.values()) await fake.close();
    console.log(printed(matrix));
  });

  /** Sends a body; the client must hear the turn and its usage, and the charge must be exact. */
  async function exchange(
    { format, wire, stream }: Place,
    body: Record<string, unknown>,
    turn: Turn,
  ): Promise<Exchange> {
    next = turn;
    const answer = await ask(gateway, format.path(wire, stream), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.text).to.equal(200);
    const told = format.read(answer, stream);
    const { text = '', thought = '', calls = [] } = turn;
    const heard = told.calls.map(({ name, args }) => ({ name, args }));
    expect({ ...told, calls: heard }).to.deep.include({
      text,
      thought,
      calls,
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: COMPLETION_TOKENS,
    });
    const charge = await chargeOf(gateway, answer.headers.get('x-request-id'));
    expect([charge?.amount_nano, charge?.estimated]).to.deep.equal([-DUE_NANO, false]);
    const received = fakes.get(wire)?.requests.at(-1);
    const arrived = received && WIRE_FAKES[wire]?.read(received);
    if (!arrived) throw new Error('Nothing arrived.');
    return { body, told, arrived, ignored: answer.headers.get('tollgate-ignored') };
  }

  /** One question and one answer. */
  function once(place: Place, question: Question, turn: Turn): Promise<Exchange> {
    const { format, wire, stream } = place;
    return exchange(place, format.body(wire, question, stream), turn);
  }

  /** The exchange that brings the results of the calls of an earlier one. */
  function withResults(place: Place, { body, told }: Exchange, turn: Turn): Promise<Exchange> {
    const { format } = place;
    const so_far = body[format.turns] as object[];
    const more = [...told.echo, ...format.results(told.calls, RESULT)];
    return exchange(place, { ...body, [format.turns]: [...so_far, ...more] }, turn);
  }

  const FEATURES: Record<string, (place: Place) => Promise<void>> = {
    async text(place) {
      const { arrived, ignored } = await once(place, {}, { text: 'Cold ❄, at noon.' });
      expect(arrived).to.deep.include({ system: SYSTEM, text: TEXT, images: [], tools: [] });
      expect(ignored).to.equal(null);
    },

    async tools(place) {
      const first = await once(place, { hasTools: true, mustCall: true }, { calls: CALLS });
      expect(first.arrived).to.deep.include({ tools: [TOOL], mustCall: true, results: [] });
      const second = await withResults(place, first, { text: 'Cold.' });
      const { calls, results } = second.arrived;
      expect(calls).to.deep.equal(CALLS);
      expect(results.map(({ name }) => name)).to.deep.equal(CALLS.map(({ name }) => name));
      for (const { text } of results) expect(text).to.include(RESULT);
      expect([first.ignored, second.ignored]).to.deep.equal([null, null]);
    },

    async images(place) {
      const { arrived, ignored } = await once(place, { image: IMAGE }, { text: 'Red.' });
      expect(arrived).to.deep.include({ text: TEXT, images: [IMAGE] });
      expect(ignored).to.equal(null);
    },

    async thinking(place) {
      const turn = { thought: 'First the weather.', calls: CALLS };
      const first = await once(place, { hasTools: true, thinks: true }, turn);
      expect(first.arrived.thinks, 'thinking is asked for').to.equal(true);
      expect(first.ignored).to.equal(null);
      const { arrived, ignored } = await withResults(place, first, { text: 'Cold.' });
      expect(arrived.state, 'what the upstream demands back').to.equal(SIGNATURE);
      expect(ignored).to.equal(null);
    },
  };

  for (const [client, format] of Object.entries(FORMAT_CLIENTS)) {
    for (const wire of Object.keys(WIRE_FAKES)) {
      for (const [feature, carry] of Object.entries(FEATURES)) {
        for (const stream of [false, true]) {
          const way = stream ? 'streamed' : 'whole';
          it(`${client} through ${wire}: ${feature}, ${way}`, async () => {
            await carry({ format, wire, stream });
            const row = matrix.get(`${client}, ${feature}`) ?? new Map<string, string>();
            matrix.set(`${client}, ${feature}`, row);
            row.set(wire, [...(row.get(wire)?.split(' ') ?? []), way].join(' '));
          });
        }
      }
    }
  }
});

function yaml(fakes: ReadonlyMap<string, FakeUpstream>): string {
  const wires = [...fakes].map(([name, { url }]) => [name, url, WIRE_FAKES[name]] as const);
  const providers = wires.map(
    ([name, url, wire]) =>
      `  ${name}: { uses: ${wire?.uses}, base_url: '${url}', ${wire?.provider} }`,
  );
  const models = wires.map(
    ([name, , wire]) => `  ${name}:
    owner: acme
    capabilities: [chat, tools, vision]
    passthrough: [reasoning_content]
    upstreams: [{ provider: ${name}, model: '${wire?.model}' }]
    price: { input_per_million: 3, cached_input_per_million: 0.3, output_per_million: 15 }`,
  );
  return `owners: { acme: { name: Acme } }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`;
}

async function chargeOf(
  { gateway: { store }, account }: TestGateway,
  request_id: string | null,
): Promise<LedgerEntry | undefined> {
  const reference = String(request_id);
  const [charge] = await store.ledger(account.id, { limit: 1, reference });
  return charge;
}

/** A line for each format and feature. */
function printed(matrix: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  const names = Object.keys(WIRE_FAKES);
  const line = (head: string, cells: readonly string[]): string =>
    `    ${head.padEnd(28)}${cells.map((cell) => cell.padEnd(16)).join('')}`.trimEnd();
  const lines = [...matrix].map(([row, cells]) =>
    line(
      row,
      names.map((name) => cells.get(name) ?? '-'),
    ),
  );
  return [line('', names), ...lines].join('\n');
}
