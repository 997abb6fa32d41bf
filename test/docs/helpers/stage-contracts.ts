import type { EndpointEntry } from '../../../src/core/configuration.js';
import { MODALITIES } from '../../../src/modalities/index.js';
import { builtInStages } from '../../../src/stages/index.js';

/** The contract of a stage, as a row of docs/stages.md has it. */
export interface Contract {
  /** The stage and its option, as gateway.yaml writes them. */
  entry: string;
  needs: readonly string[];
  gives: readonly string[];
  precedes: readonly string[];
  /** Empty if the stage has no effect on money. */
  money: string;
}

/** An endpoint with one stage, which is called `own`. */
export const EXAMPLE_ENDPOINT: EndpointEntry = {
  name: 'example',
  method: 'GET',
  path: '/images/{id}',
  stages: [{ name: 'own', option: undefined, place: { file: '', line: 1, column: 1 } }],
  place: { file: '', line: 1, column: 1 },
  main: 'gateway.yaml',
};

const STAGES = builtInStages(MODALITIES);

/** The contracts of all shipped stages, with each of their options. */
export function contracts(): Contract[] {
  const all = [...MODALITIES.values()];
  const formats = all.flatMap((modality) => modality.formats.map(({ name }) => name));
  const tasks = all.flatMap((modality) => Object.keys(modality.tasks));
  const operations = all.flatMap((modality) => modality.operations.map(({ name }) => name));
  return [
    contract('auth'),
    alike(formats.map((name) => contract('validate', name, 'NAME', name))),
    contract('mask'),
    contract('deny', { words: ['a'] }, ''),
    alike(
      [...MODALITIES.keys()].map((name) =>
        contract('route', { capability: name }, '{ capability: NAME }', name),
      ),
    ),
    ...tasks.map((name) => contract('route', name)),
    contract('limit'),
    contract('balance'),
    contract('balance', 'gate'),
    ...operations.map((name) => contract('transform', name)),
    contract('meter'),
    contract('meter', 'once'),
    contract('models'),
    contract('model'),
    contract('hosted-image'),
  ];
}

/** The contract of a stage with an option; `name`, which the option has, is written NAME. */
function contract(stage: string, option?: unknown, written = String(option), name = ''): Contract {
  const found = STAGES.get(stage)?.shape;
  const shape = typeof found === 'function' ? found(option, EXAMPLE_ENDPOINT) : found;
  if (!shape) throw new Error(`No stage is called ${stage}.`);
  return {
    entry: option === undefined || written === '' ? stage : `${stage}: ${written}`,
    // Which formats a capability takes, the row of `validate` leaves open too.
    needs: shape.needs.map((need) => need.replace(/^request:.*$/u, 'request')),
    gives: shape.gives.map((need) => (name === '' ? need : need.replace(`:${name}`, ':NAME'))),
    precedes: shape.precedes ?? [],
    money: shape.money ?? '',
  };
}

/** The one contract that all of these are. */
function alike(all: readonly Contract[]): Contract {
  const [first, ...others] = all;
  if (!first) throw new Error('There is no contract.');
  for (const other of others) {
    if (JSON.stringify(other) === JSON.stringify(first)) continue;
    throw new Error(`${JSON.stringify(other)} is not as ${JSON.stringify(first)}.`);
  }
  return first;
}
