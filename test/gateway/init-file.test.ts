import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { initFile } from '../../src/gateway/init-file.js';
import type { PlannedModel, PlannedProvider } from '../../src/gateway/init-plan.js';

function model(id: string, more: Partial<PlannedModel> = {}): PlannedModel {
  const notes = { limits_note: '', price_note: '' };
  return { id, capabilities: ['chat'], limits: {}, price: 'free', ...notes, ...more };
}

function provider(name: string, models: PlannedModel[], omitted = 0): PlannedProvider {
  const found = { variables: [], unset: [], base_url: 'http://127.0.0.1:1/v1', entry: [] };
  return { name, uses: name, title: name, ...found, models, omitted };
}

function textOf(...providers: PlannedProvider[]): string {
  return initFile({ schema: undefined, date: '2026-11-23', port: 8081, providers });
}

interface Written {
  listen: string;
  owners: object;
  models: Record<string, { upstreams: { provider: string; model?: string }[]; price: unknown }>;
}

describe('the text of a first gateway.yaml', () => {
  it('lets free servers with the same model stand in for each other', () => {
    const { models, owners, listen } = parse(
      textOf(provider('a', [model('m')]), provider('b', [model('m')])),
    ) as Written;
    expect(models.m?.upstreams).to.deep.equal([{ provider: 'a' }, { provider: 'b' }]);
    // An owner without a model would be a warning.
    expect(owners).to.deep.equal({ a: { name: 'a' } });
    expect(listen).to.equal('127.0.0.1:8081');
  });

  it('keeps a model apart that costs something, by the name of its provider', () => {
    const price = { input_per_million: '2.50', output_per_million: '10.00' };
    const { models } = parse(
      textOf(provider('a', [model('m')]), provider('b', [model('m', { price })])),
    ) as Written;
    expect(Object.keys(models)).to.deep.equal(['m', 'b/m']);
    expect(models['b/m']?.upstreams).to.deep.equal([{ provider: 'b', model: 'm' }]);
    expect(models['b/m']?.price).to.deep.equal({ input_per_million: 2.5, output_per_million: 10 });
  });

  it('writes the prices of each of several hours on a line of its own', () => {
    const price = {
      input_per_million: '0.30',
      output_per_million: '1.20',
      off_peak: [
        {
          days: ['sat', 'sun'],
          zone: 'UTC',
          input_per_million: '0.15',
          output_per_million: '0.60',
        },
        { from: '10:00', to: '01:00', zone: 'UTC', input_per_million: '0.15' },
      ],
    };
    const text = textOf(provider('a', [model('m', { price })]));
    expect(text).to.include(`      off_peak:
        - { days: [sat, sun], zone: UTC, input_per_million: 0.15, output_per_million: 0.60 }
        - { from: '10:00', to: '01:00', zone: UTC, input_per_million: 0.15 }
`);
  });

  it('counts the models that it leaves out', () => {
    expect(textOf(provider('a', [model('m')], 60))).to.include('  # and 60 more of a, ');
  });

  it('reads back the names of models, whatever they are', () => {
    const name = fc.stringMatching(/^[^\s\p{C}$]{1,40}$/u);
    const awkward = ['7', '1e3', 'null', 'Yes', '~', '-', '-x', "it's", '#a', 'a:', '&a', '*a'];
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), (names) => {
        const { models } = parse(
          textOf(
            provider(
              'a',
              names.map((id) => model(id)),
            ),
          ),
        ) as Written;
        expect(Object.keys(models)).to.have.members(names);
      }),
      { examples: awkward.map((one) => [[one]]), numRuns: 30 },
    );
  });
});
