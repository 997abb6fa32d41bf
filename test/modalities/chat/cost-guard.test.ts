import { expect } from 'chai';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { guardCost } from '../../../src/modalities/chat/cost-guard.js';
import type { Upstream } from '../../../src/core/model.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const markOf = (ttl: string) => ({ cache_control: { type: 'ephemeral', ttl } });
const callOf = (ttl: string): ChatCall => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...markOf(ttl) }] }],
  stream: false,
  n: 1,
  max_tokens: 10,
  fields: { tools: [{ type: 'function', function: { name: 'look' }, ...markOf(ttl) }] },
});
const at = (wire: object) => upstreamAt(providerAt('http://127.0.0.1:9', { wire: { ...wire } }));

const PAID = { free: false, input_nano_per_million: 1n, output_nano_per_million: 1n };

function priced(price: object, wire: Record<string, unknown> = {}): Upstream {
  const provider = providerAt('http://127.0.0.1:9', { wire });
  return upstreamAt(provider, { price: { ...PAID, ...price } });
}

describe('a service tier', () => {
  const asking = (service_tier: unknown): ChatCall => ({
    ...callOf('5m'),
    fields: { service_tier },
  });
  const tiers = new Map([['flex', {}]]);

  it('goes where it has a price, and a plain one where the wire has tiers', () => {
    for (const [tier, upstream] of [
      ['flex', priced({ tiers })],
      ['default', priced({ tiers })],
      ['auto', priced({}, { service_tiers: true })],
    ] as const) {
      const call = asking(tier);
      expect(guardCost(call, upstream)).to.deep.equal({ call, ignored: [] });
    }
  });

  it('is left out and named elsewhere', () => {
    for (const [tier, upstream] of [
      ['priority', priced({ tiers }, { service_tiers: true })],
      ['default', priced({})],
      [7, priced({ tiers })],
    ] as const) {
      const { call, ignored } = guardCost(asking(tier), upstream);
      expect([call.fields, ignored]).to.deep.equal([{}, ['service_tier']]);
    }
  });
});

describe('tools that an upstream runs', () => {
  const SEARCH = { type: 'web_search_20250305', name: 'web_search' };
  const CODE = { type: 'code_interpreter' };
  const LOOK = { type: 'function', function: { name: 'look' } };
  const asking = (fields: object, more: object = {}): ChatCall => ({
    ...callOf('5m'),
    max_tool_calls: 10,
    fields: { tools: [LOOK, SEARCH, CODE], ...fields },
    ...more,
  });
  const searching = priced({ per_tool_call: new Map([['web_search', 1n]]) });

  it('go where they have a price, or where the model lists their type', () => {
    const { call, ignored } = guardCost(asking({}), searching);
    expect([call.fields.tools, ignored]).to.deep.equal([
      [LOOK, SEARCH],
      ['tools[].code_interpreter'],
    ]);
    const listed = asking({}, { tool_types: new Set(['code_interpreter']) });
    expect(guardCost(listed, searching)).to.deep.equal({ call: listed, ignored: [] });
  });

  it('are not bounded where the model lists them without a price', () => {
    const listed = asking({ tools: [CODE] }, { tool_types: new Set(['code_interpreter']) });
    expect(guardCost(listed, priced({})).call).not.to.have.property('max_tool_calls');
  });

  it('stay out of the way of a function with their name', () => {
    const named = { type: 'function', function: { name: 'web_search' } };
    const fields = { tools: [named, SEARCH], tool_choice: named };
    const { call, ignored } = guardCost(asking(fields), priced({}));
    expect(call.fields).to.deep.equal({ tools: [named], tool_choice: named });
    expect(ignored).to.deep.equal(['tools[].web_search_20250305']);
  });

  it('are left out with their choice where none has a price', () => {
    const fields = { tools: [SEARCH, CODE], tool_choice: 'auto', parallel_tool_calls: true };
    const { call, ignored } = guardCost(asking(fields), priced({}));
    expect(call.fields).to.deep.equal({});
    expect(ignored).to.deep.equal(['tools[].web_search_20250305', 'tools[].code_interpreter']);
  });

  for (const [tools, tool_choice] of [
    [[LOOK, CODE], { type: 'code_interpreter' }],
    [[LOOK, SEARCH], { type: 'function', function: { name: 'web_search' } }],
    [[SEARCH], 'required'],
  ] as const) {
    it(`are no upstream's where the client demands one: ${JSON.stringify(tool_choice)}`, () => {
      expect(() => guardCost(asking({ tools, tool_choice }), priced({})))
        .to.throw(UpstreamError)
        .with.deep.include({ fault: 'unsupported', param: 'tool_choice' });
    });
  }
});

describe('marks for the cache', () => {
  it('keep an hour where writes of an hour have a price', () => {
    const hour = callOf('1h');
    expect(guardCost(hour, priced({ cache_write_1h_nano_per_million: 2n })).call).to.equal(hour);
  });

  it('keep an hour only where the manifest says that its price covers it', () => {
    const hour = callOf('1h');
    expect(guardCost(hour, at({ cache_hour: true })).call).to.equal(hour);
    expect(JSON.stringify(guardCost(hour, at({})))).not.to.include('1h');
    expect(guardCost(hour, at({})).ignored).to.deep.equal(['cache_control.ttl']);
  });

  it('keep the five minutes that they have anyway, and no other life', () => {
    const short = callOf('5m');
    expect(guardCost(short, at({}))).to.deep.equal({ call: short, ignored: [] });
    expect(JSON.stringify(guardCost(callOf('24h'), at({ cache_hour: true })))).not.to.include(
      '24h',
    );
  });
});
