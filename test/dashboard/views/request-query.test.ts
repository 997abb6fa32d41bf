import { expect } from 'chai';
import { GatewayError } from '../../../src/core/errors.js';
import { filterOf } from '../../../src/actions/request-list.js';
import {
  readableOf,
  readRequestQuery,
  requestsPath,
} from '../../../src/dashboard/views/request-query.js';

describe('the filter of requests in an address', () => {
  it('is read by its names, and nothing else is', () => {
    const query = { model: 'gpt', status: '', key: ['a', 'b'], other: 'x', from: '2026-11-20' };
    expect(readRequestQuery(query)).to.deep.equal({ model: 'gpt', from: '2026-11-20' });
  });

  it('takes days with their last moment, and minutes as they are', () => {
    const noon = '2026-11-20T12:00';
    expect(filterOf({ from: '2026-11-20', to: '2026-11-20' })).to.deep.equal({
      from_ms: Date.parse('2026-11-20'),
      to_ms: Date.parse('2026-11-21'),
    });
    expect(filterOf({ from: noon, to: noon })).to.deep.equal({
      from_ms: Date.parse(`${noon}Z`),
      to_ms: Date.parse(`${noon}Z`),
    });
    const moment = '2026-11-20T12:00:09.250Z';
    expect(filterOf({ from: moment })).to.deep.equal({ from_ms: Date.parse(moment) });
  });

  it('knows a status, its class and any failure', () => {
    expect(filterOf({ status: '502' })).to.deep.equal({ status: 502 });
    expect(filterOf({ status: '4' })).to.deep.equal({ status: 4 });
    expect(filterOf({ status: '5xx' })).to.deep.equal({ status: 5 });
    expect(filterOf({ status: 'failed' })).to.deep.equal({ failed: true });
  });

  it('refuses other words, naming the parameter', () => {
    for (const [name, text] of [
      ['status', '9'],
      ['status', '20'],
      ['from', '2026-02-30'],
      ['to', '2026-11-20T24:00'],
      ['to', '2026-11-20T1'],
      ['to', '2026-11-20T12:00:60Z'],
      ['to', '2026-11-20T12:00:00+01:00'],
      ['from', 'yesterday'],
    ] as const) {
      expect(() => filterOf({ [name]: text }), text)
        .to.throw(GatewayError)
        .with.property('param', name);
    }
  });

  it('is read without its wrong parts, of which each is named', () => {
    const { query, wrong } = readableOf({ from: 'x', to: '2026-02-30', model: 'm' });
    expect(query).to.deep.equal({ model: 'm' });
    expect(Object.keys(wrong)).to.deep.equal(['from', 'to']);
    expect(readableOf({ status: '5' })).to.deep.equal({ query: { status: '5' }, wrong: {} });
  });

  it('is written with changes, of which an empty one takes away', () => {
    const query = { model: 'a b', status: 'failed' };
    expect(requestsPath('/requests', query, { status: '', cursor: 'c' })).to.equal(
      '/requests?model=a+b&cursor=c',
    );
    expect(requestsPath('/requests', {})).to.equal('/requests');
  });
});
