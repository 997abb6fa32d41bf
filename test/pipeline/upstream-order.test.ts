import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Upstream } from '../../src/core/model.js';
import { chancesOf, orderByWeight } from '../../src/pipeline/upstream-order.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const provider = providerAt('http://127.0.0.1');

/** Upstreams called 0, 1, 2, … with these weights. */
function weighted(weights: readonly (number | undefined)[]): Upstream[] {
  return weights.map((weight, at) => upstreamAt(provider, { model: String(at), weight }));
}

function names(upstreams: readonly Upstream[]): number[] {
  return upstreams.map(({ model }) => Number(model));
}

interface Said {
  account_id?: string;
  body?: object;
  headers?: IncomingHttpHeaders;
  beginning?: string;
}

function chancesFor({ account_id = 'a', body = {}, headers = {}, beginning = '' }: Said) {
  return chancesOf({ account_id, body, headers, beginning: () => beginning });
}

const weights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 6 });
const mixed = fc.array(fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }), {
  minLength: 1,
  maxLength: 8,
});
const word = fc.string({ minLength: 1, maxLength: 40 });

describe('the order of upstreams', () => {
  it('is the order of the file where nothing has a weight', () => {
    const upstreams = weighted([undefined, undefined, undefined]);
    expect(orderByWeight(upstreams, () => 0.99)).to.deep.equal(upstreams);
  });

  it('gives each upstream the share of its weight of all conversations', () => {
    const TALKS = 1_000;
    fc.assert(
      fc.property(weights, (shares) => {
        const upstreams = weighted(shares);
        const total = shares.reduce((sum, weight) => sum + weight, 0);
        const firsts = shares.map(() => 0);
        for (let talk = 0; talk < TALKS; talk += 1) {
          const chanceOf = chancesFor({ beginning: `Talk ${talk}` });
          const [first = -1] = names(orderByWeight(upstreams, chanceOf));
          firsts[first] = (firsts[first] ?? 0) + 1;
        }
        for (const [at, weight] of shares.entries()) {
          const share = weight / total;
          const spread = Math.sqrt(TALKS * share * (1 - share));
          expect(firsts[at]).to.be.closeTo(TALKS * share, 5 * spread + 1);
        }
      }),
      { numRuns: 6, seed: 54 },
    );
  });

  it('leaves each group of weighted neighbours where it stands', () => {
    fc.assert(
      fc.property(mixed, word, (all, beginning) => {
        const order = names(orderByWeight(weighted(all), chancesFor({ beginning })));
        const groups = all.map((_, at) =>
          all.slice(0, at + 1).findLastIndex((w) => w === undefined),
        );
        expect([...order].sort((a, b) => a - b)).to.deep.equal([...all.keys()]);
        expect(order.map((name) => groups[name])).to.deep.equal(groups);
      }),
    );
  });

  it('moves only the conversations of an upstream that is taken out', () => {
    fc.assert(
      fc.property(weights, word, fc.nat(), (shares, beginning, pick) => {
        const upstreams = weighted(shares);
        const out = upstreams[pick % upstreams.length];
        const chanceOf = chancesFor({ beginning });
        const all = orderByWeight(upstreams, chanceOf);
        const left = upstreams.filter((one) => one !== out);
        expect(orderByWeight(left, chanceOf)).to.deep.equal(all.filter((one) => one !== out));
      }),
    );
  });
});

describe('the conversation of a call', () => {
  const upstreams = weighted(Array.from({ length: 50 }, () => 1));
  const orderOf = (said: Said): number[] => names(orderByWeight(upstreams, chancesFor(said)));
  const uuid = '00000000-0000-4000-8000-000000000001';
  const user_id = JSON.stringify({ device_id: 'd', account_uuid: '', session_id: uuid });

  const NAMED: Readonly<Record<string, Said>> = {
    'its prompt_cache_key': { body: { prompt_cache_key: uuid, session_id: 'other' } },
    "Claude Code's header": { headers: { 'x-claude-code-session-id': uuid } },
    "codex's header": { headers: { 'session-id': uuid } },
    "an older codex's header": { headers: { session_id: uuid } },
    "opencode's header": { headers: { 'x-session-affinity': uuid } },
    "the session in Claude Code's user": { body: { metadata: { user_id } } },
    "the session in an older Claude Code's user": {
      body: { metadata: { user_id: `user_ab12_account__session_${uuid}` } },
    },
    'its session_id': { body: { session_id: uuid } },
  };

  for (const [what, said] of Object.entries(NAMED)) {
    it(`is told by ${what}, whatever the messages are`, () => {
      const order = orderOf({ ...said, beginning: 'one' });
      expect(order).to.deep.equal(orderOf({ ...said, beginning: 'another' }));
      expect(order).to.deep.equal(orderOf({ body: { prompt_cache_key: uuid } }));
      expect(order).to.not.deep.equal(orderOf({ ...said, account_id: 'b' }));
    });
  }

  it('is told by how it begins where the client names none', () => {
    const unnamed: Said[] = [
      {},
      { body: { prompt_cache_key: null, session_id: 7, metadata: { user_id: 'ann' } } },
      { body: { prompt_cache_key: '', metadata: { user_id: 7 } } },
      { body: { metadata: 'none' }, headers: { 'x-session-affinity': '' } },
    ];
    for (const said of unnamed) {
      const order = orderOf({ ...said, beginning: 'one' });
      expect(order).to.deep.equal(orderOf({ beginning: 'one' }));
      expect(order).to.not.deep.equal(orderOf({ ...said, beginning: 'another' }));
      expect(order).to.not.deep.equal(orderOf({ account_id: 'b', beginning: 'one' }));
    }
  });

  it('is not read where no upstreams share the load', () => {
    const chanceOf = chancesOf({
      account_id: 'a',
      body: {},
      headers: {},
      beginning: () => expect.fail('it was read'),
    });
    for (const all of [[1], [undefined, undefined], [3, undefined, 1]]) {
      expect(names(orderByWeight(weighted(all), chanceOf))).to.deep.equal([...all.keys()]);
    }
  });
});
