import type { Command } from 'commander';
import type { SampleBill } from '../billing/sample-bill.js';
import { formatDollars } from '../lib/money.js';
import { priceShape, type PriceShape } from '../billing/price-shape.js';
import { nameHint } from '../yaml/did-you-mean.js';
import type { Configuration, EndpointEntry, StageEntry } from '../core/configuration.js';
import { isRecord } from '../lib/is-record.js';
import type { Modality } from '../pipeline/modality.js';
import { formatOption } from '../pipeline/stage.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { priceTag, printJson, printLine } from './print.js';
import type { Model, Upstream } from '../core/model.js';
import { environmentOf } from './environment.js';

/** `tollgate explain MODEL` */
export function explainCommand(): Command {
  return withConfig(
    command(
      'explain',
      'show what happens to a request for a model, and what it costs',
      'tollgate explain sim-chat',
    )
      .argument('<model>', 'its id')
      .option('--json', 'print one JSON document')
      .action(acting(explain)),
  );
}

async function explain(
  id: string,
  { config, json }: { config: string; json?: boolean },
): Promise<void> {
  const { sound } = await import('../gateway/gateway.js');
  const { configuration } = await sound(config, environmentOf(config));
  const model = configuration.models.get(id);
  if (!model) {
    const hint = nameHint(id, [...configuration.models.keys()]);
    throw new UsageError(`there is no model "${id}"; ${hint}`);
  }
  const { MODALITIES } = await import('../modalities/index.js');
  const able = [...MODALITIES.values()].filter(({ name }) => model.capabilities.has(name));
  const endpoints = endpointsOf(able, configuration);
  const bills = await Promise.all(able.map(({ example }) => example(model)));
  if (json) return printJson(shapeOf(model, endpoints, bills));
  printLine(`${id} does ${[...model.capabilities].join(', ')}; its owner is ${model.owner}.`);
  printEndpoints(endpoints);
  printUpstreams(model.upstreams);
  bills.forEach(printBill);
}

/** The endpoints that route to the model's capabilities, or to its tasks. */
function endpointsOf(
  able: readonly Modality[],
  { endpoints }: Configuration,
): readonly EndpointEntry[] {
  return endpoints.filter(({ stages }) =>
    stages.some(({ name, option }) => {
      if (name !== 'route') return false;
      if (isRecord(option)) return able.some((one) => one.name === option['capability']);
      return able.some(({ tasks }) => Object.hasOwn(tasks, String(option)));
    }),
  );
}

function printEndpoints(endpoints: readonly EndpointEntry[]): void {
  printLine('\nIt is asked for at');
  for (const { method, path, stages } of endpoints) {
    printLine(`  ${method} ${path}`);
    printLine(`    ${stages.map(stageInWords).join(' > ')}`);
  }
}

function stageInWords({ name, option }: StageEntry): string {
  if (option === undefined || option === null) return name;
  if (typeof option === 'string') return `${name}: ${option}`;
  if (!isRecord(option)) return `${name}: ${formatOption(option)}`;
  const entries = Object.entries(option).map(([key, value]) => `${key}: ${String(value)}`);
  return `${name}: { ${entries.join(', ')} }`;
}

function printUpstreams(upstreams: readonly Upstream[]): void {
  printLine('\nIts upstreams, as they are tried; neighbours with a weight share the load');
  upstreams.forEach((upstream, at) => {
    const { provider, model, weight } = upstream;
    const share = weight === undefined ? '' : `, weight ${weight}`;
    printLine(`  ${at + 1}. ${provider.name}: ${model}${share}`);
    for (const line of priceLines(priceShape(upstream.price))) printLine(`     ${line}`);
  });
}

function priceLines(price: PriceShape): string[] {
  if (price === 'free') return ['free'];
  return Object.entries(price).map(([unit, value]) => {
    if (typeof value === 'string') return `${unit} ${priceTag(value)}`;
    const kinds = Object.entries(value).map(([kind, amount]) => `${kind} ${priceTag(amount)}`);
    return `${unit} ${kinds.join(', ')}`;
  });
}

function printBill({ request, held_nano, charges }: SampleBill): void {
  printLine(`\nA worked bill for ${request}`);
  const rows: [string, bigint][] = [['held before it leaves', held_nano]];
  for (const { provider, cost_nano } of charges) {
    rows.push([`charged if ${provider} answers`, cost_nano]);
  }
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, nano] of rows) {
    printLine(`  ${what.padEnd(width)}  ${priceTag(formatDollars(nano))}`);
  }
}

function shapeOf(
  model: Model,
  endpoints: readonly EndpointEntry[],
  bills: readonly SampleBill[],
): object {
  return {
    model: model.id,
    owner: model.owner,
    capabilities: [...model.capabilities],
    endpoints: endpoints.map(({ method, path, stages }) => ({
      at: `${method} ${path}`,
      stages: stages.map(stageInWords),
    })),
    upstreams: model.upstreams.map((upstream) => ({
      provider: upstream.provider.name,
      model: upstream.model,
      weight: upstream.weight ?? null,
      price: priceShape(upstream.price),
    })),
    bills: bills.map(({ request, held_nano, charges }) => ({
      request,
      held: formatDollars(held_nano),
      charges: charges.map(({ provider, cost_nano }) => ({
        provider,
        charge: formatDollars(cost_nano),
      })),
    })),
  };
}
