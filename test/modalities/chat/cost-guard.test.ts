import { expect } from 'chai';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { guardCost } from '../../../src/modalities/chat/cost-guard.js';
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

describe('marks for the cache', () => {
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
