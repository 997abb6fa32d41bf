import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '../../src/core/configuration.js';
import { EXPORT_CLASSES, type ExportClass } from '../../src/core/provider-export.js';
import { divideUp } from '../../src/lib/money.js';
import { checkOrThrow } from '../../src/gateway/gateway.js';
import { reconcile } from '../../src/reconcile/reconcile.js';
import type { Reconciliation, ReportedModel } from '../../src/reconcile/report.js';
import type { Store } from '../../src/store/store-types.js';
import { isLong } from '../helpers/long.js';
import { chargeOf, dollars, onEachStore, type Ground } from '../store/helpers/ground.js';
import {
  dayOf,
  writeAnthropic,
  writeAws,
  writeAzure,
  writeGoogle,
  writeOpenAi,
  writeOpenRouter,
  type BilledCall,
  type Prices,
  type PricesOn,
  type WriteExport,
} from './provider-exports.js';

/** All calls of the month, at all providers together. */
const CALLS = isLong ? 100_000 : 2_000;
const START_MS = Date.parse('2026-10-01');
const DAY_MS = 86_400_000;
const DAYS = 31;
const RISE_DAY = '2026-10-16';

interface Kind {
  provider: string;
  writes: WriteExport;
  /** The upstream model with reads from caches, and the one of which the ledger counts no class. */
  plenty: string;
  plain: string;
  /** A class that the provider may bill of the plain model. */
  missing: ExportClass;
}

const KINDS: readonly Kind[] = [
  {
    provider: 'openai',
    writes: writeOpenAi,
    plenty: 'gpt-4o',
    plain: 'gpt-4o-mini',
    missing: 'cached_input',
  },
  {
    provider: 'anthropic',
    writes: writeAnthropic,
    plenty: 'claude-sonnet-4-5-20250929',
    plain: 'claude-haiku-4-5',
    missing: 'cache_write_1h',
  },
  {
    provider: 'vertex',
    writes: writeGoogle,
    plenty: 'gemini-2.5-flash',
    plain: 'gemini-2.5-flash-lite',
    missing: 'cached_input',
  },
  {
    provider: 'bedrock',
    writes: writeAws,
    plenty: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    plain: 'amazon.nova-lite-v1:0',
    missing: 'cache_write',
  },
  {
    provider: 'azure',
    writes: writeAzure,
    plenty: 'gpt-4.1',
    plain: 'gpt-4.1-mini',
    missing: 'cached_input',
  },
  {
    provider: 'openrouter',
    writes: writeOpenRouter,
    plenty: 'deepseek/deepseek-chat',
    plain: 'meta-llama/llama-3.3-70b',
    missing: 'cached_input',
  },
];

const PRICE = {
  input: 3_000_000_000n,
  cached_input: 300_000_000n,
  output: 15_000_000_000n,
} as const;
/** What the provider takes for a class that gateway.yaml has no price for. */
const UNPRICED = { cache_write: 3_750_000_000n, cache_write_1h: 6_000_000_000n } as const;
const PRICES: Prices = Object.fromEntries(
  KINDS.flatMap(({ plenty, plain }) => [plenty, plain]).map((model) => [
    model,
    { ...PRICE, ...UNPRICED },
  ]),
);

const YAML = `
owners: { me: { name: Me } }
providers:
  openai: { api_key: k }
  anthropic: { api_key: k }
  vertex: { uses: simulator }
  bedrock: { uses: simulator }
  azure: { resource: r, api_key: k }
  openrouter: { api_key: k }
models:
${KINDS.flatMap(({ provider, plenty, plain }) =>
  [plenty, plain].map(
    (model, at) => `  ${provider}-${at}:
    owner: me
    capabilities: [chat]
    upstreams: [{ provider: ${provider}, model: "${model}" }]
    price: { input_per_million: 3, cached_input_per_million: 0.3, output_per_million: 15 }`,
  ),
).join('\n')}
`;

/** A call as the ledger has it, and as the provider bills it where nothing is planted. */
interface MadeCall extends BilledCall {
  kind: Kind;
  name: string;
  estimated: boolean;
}

/** The same month in every run. Estimates are right, unless a test bills other tokens. */
function makeMonth(): MadeCall[] {
  let state = 7;
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  return Array.from({ length: CALLS }, (_, at) => {
    const kind = KINDS[at % KINDS.length] ?? (KINDS[0] as Kind);
    const isPlain = random() < 0.4;
    const day = Math.floor((at / CALLS) * DAYS);
    const input = 2_000 + Math.floor(random() * 90_000);
    const cached_input = isPlain ? 0 : Math.floor(random() * 60_000);
    return {
      kind,
      name: `${kind.provider}-${isPlain ? 1 : 0}`,
      at_ms: START_MS + day * DAY_MS + Math.floor(random() * DAY_MS),
      model: isPlain ? kind.plain : kind.plenty,
      tokens: { input, cached_input, output: 100 + Math.floor(random() * 9_000) },
      estimated: !isPlain && day % 10 === 4,
    };
  });
}

async function enterMonth(store: Store, ground: Ground, calls: readonly MadeCall[]): Promise<void> {
  const { id } = await store.createAccount('ann', dollars(1_000_000));
  for (let from = 0; from < calls.length; from += 500) {
    for (const day of new Set(calls.slice(from, from + 500).map(({ at_ms }) => dayOf(at_ms)))) {
      ground.now_ms = Date.parse(day) + DAY_MS - 1;
      const ofDay = calls.slice(from, from + 500).map((call, at) => ({ call, at: from + at }));
      await Promise.all(
        ofDay
          .filter(({ call }) => dayOf(call.at_ms) === day)
          .map(({ call, at }) => enterCall(store, id, call, at)),
      );
    }
  }
}

function enterCall(store: Store, account_id: string, call: MadeCall, at: number) {
  const { input = 0, cached_input = 0, output = 0 } = call.tokens;
  const usage = { prompt_tokens: input + cached_input, completion_tokens: output };
  const cost = EXPORT_CLASSES.reduce(
    (sum, name) => sum + BigInt(call.tokens[name] ?? 0) * (PRICES[call.model]?.[name] ?? 0n),
    0n,
  );
  return store.charge(
    chargeOf(`request-${at}`, account_id, divideUp(cost, 1_000_000n), {
      model: call.name,
      provider: call.kind.provider,
      upstream_model: call.model,
      estimated: call.estimated,
      usage: JSON.stringify(usage),
      ...(cached_input > 0 && { cached_tokens: cached_input }),
    }),
  );
}

const same: PricesOn = () => PRICES;

onEachStore('reconciling a month with the six exports', (ground) => {
  let folder: string;
  let configuration: Configuration;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-reconcile-'));
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, YAML);
    ({ configuration } = await checkOrThrow(file, {}));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('finds nothing where nothing differs, and names each planted difference', async () => {
    const store = await ground.open();
    const month = makeMonth();
    await enterMonth(store, ground, month);

    for (const kind of KINDS) {
      const calls = month.filter((call) => call.kind === kind);
      const compare = (billed: readonly BilledCall[], pricesOn = same): Promise<Reconciliation> =>
        reconcile(
          {
            files: kind.writes(folder, billed, pricesOn),
            providers: [kind.provider],
            models: new Map(),
            tolerance_percent: 1,
          },
          configuration,
          store.reconciliations,
          ground.now_ms,
        );
      const seen = `${kind.provider}: `;

      const clean = await compare(calls);
      expect(Math.abs(Number(clean.difference)), seen).to.be.below(0.005);
      expect(clean, seen).to.include({ percent: 0, within: true });
      expect(clean.unmatched, seen).to.deep.equal([]);
      expect(
        clean.models.map(({ model }) => model),
        seen,
      ).to.have.members([kind.plenty, kind.plain]);
      expect(
        clean.models.flatMap(({ causes }) => causes),
        seen,
      ).to.deep.equal([]);

      const dear = { ...PRICES, [kind.plenty]: { ...PRICE, output: 18_000_000_000n } };
      const stale = await compare(calls, (day) => (day >= RISE_DAY ? dear : PRICES));
      expectCause(stale, kind.plenty, 'stale_price', seen);
      expect(causesFor(stale, kind.plenty)[0]?.first_day, seen).to.equal(RISE_DAY);

      const missing = calls.map((call): BilledCall => {
        if (call.model !== kind.plain) return call;
        const { input = 0, output = 0 } = call.tokens;
        const moved = Math.floor(input / 2);
        return { ...call, tokens: { input: input - moved, output, [kind.missing]: moved } };
      });
      const unpriced = await compare(missing);
      expectCause(unpriced, kind.plain, 'class_without_price', seen);
      expect(causesFor(unpriced, kind.plain)[0]?.text, seen).to.include(kind.missing);

      const outside = calls
        .filter(({ model, at_ms }) => model === kind.plain && dayOf(at_ms) > '2026-10-27')
        // Each day more of them: costs that differ by one factor would be those of another price.
        .filter(({ at_ms }, at) => at % 5 < new Date(at_ms).getUTCDate() - 27)
        .map(({ at_ms, model, tokens }) => ({ at_ms, model, tokens }));
      const more = await compare([...calls, ...outside]);
      expectCause(more, kind.plain, 'calls_outside', seen);

      const true_usage = calls.map((call): BilledCall => {
        if (!call.estimated) return call;
        const { input = 0, output = 0, cached_input = 0 } = call.tokens;
        return { ...call, tokens: { input: input + 40_000, output: output * 2, cached_input } };
      });
      const estimated = await compare(true_usage);
      expectCause(estimated, kind.plenty, 'estimates', seen);
    }
  });
});

function causesFor({ models }: Reconciliation, wanted: string): ReportedModel['causes'] {
  return models.find(({ model }) => model === wanted)?.causes ?? [];
}

/** It is the only cause, it explains the difference, and the rest of the bill agrees. */
function expectCause(report: Reconciliation, model: string, cause: string, seen: string): void {
  const told = JSON.stringify(report.models.map(({ model, causes }) => ({ model, causes })));
  expect(report.within, seen + told).to.equal(false);
  const causes = report.models.flatMap((one) => one.causes.map((each) => [one.model, each.cause]));
  expect(causes, seen + told).to.deep.equal([[model, cause]]);
  const explained = Number(causesFor(report, model)[0]?.difference);
  expect(explained, seen + told).to.be.closeTo(Number(report.difference), 0.01);
}
