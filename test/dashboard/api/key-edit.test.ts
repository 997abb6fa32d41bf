import { expect } from 'chai';
import type { AccountShape, KeyShape } from '../../../src/actions/shapes.js';
import { sha256 } from '../../../src/store/keys/secret.js';
import { dollars } from '../../store/helpers/ground.js';
import { onEachApiGateway, type Client } from './helpers/api-gateway.js';

type NewKey = KeyShape & { secret: string };
type CallingKey = { rates_left: object[]; account: { rates_left: object[] } };

onEachApiGateway(
  'the API that changes keys and accounts',
  { yaml: 'limits: { keys: 2 }\nrates: { key: { requests_per_minute: 100 } }' },
  (here) => {
    let ann: Client;
    let key: NewKey;

    beforeEach(async () => {
      here.ground.now_ms = Date.parse('2026-11-20T10:00:00Z');
      ann = await here.house.signIn('ann', { credit_nano: dollars(10) });
      const body = {
        name: 'laptop',
        allowances: { day: '5.00' },
        rates: { requests_per_minute: 60 },
      };
      key = (await ann.send('POST', '/api/keys', body)).as<NewKey>('NewKey');
    });

    const edit = (body: object, id = key.id, client = ann) =>
      client.send('PATCH', `/api/keys/${id}`, body);
    const rotate = (body: object, client = ann) =>
      client.send('POST', `/api/keys/${key.id}/rotate`, body);
    const byKey = async (secret: string) =>
      fetch(`${here.house.url}/api/key`, { headers: { authorization: `Bearer ${secret}` } });

    const DAY = {
      window: 'day',
      amount: '5.00',
      spent: '0.00',
      held: '0.00',
      left: '5.00',
      returns: '2026-11-21T00:00:00.000Z',
      raised: null,
    };

    it('changes what the body names, and keeps the rest', async () => {
      expect(key).to.deep.include({ rates: { requests_per_minute: 60 }, allowances: [DAY] });
      const body = { name: 'server', limit: '9', rates: { tokens_per_minute: 100_000 } };
      const edited = (await edit(body)).as<KeyShape>('OneKey');
      const { secret: _secret, ...before } = key;
      const rates = { requests_per_minute: 60, tokens_per_minute: 100_000 };
      const limit = { limit: '9.00', spent: '0.00', left: '9.00' };
      expect(edited).to.deep.equal({ ...before, name: 'server', ...limit, rates });
      const { data } = (await ann.get('/api/keys')).as<{ data: KeyShape[] }>('KeyList');
      expect(data).to.deep.equal([edited]);
    });

    it('takes terms away by null', async () => {
      await edit({ limit: '9', expires_in_s: 60, models: ['acme-chat'] });
      const none = { limit: null, expires: null, models: null, allowances: { day: null } };
      const edited = await edit({ ...none, rates: { requests_per_minute: null } });
      const bare = { limit: null, expires: null, models: null, rates: null, allowances: [] };
      expect(edited.as<KeyShape>('OneKey')).to.deep.include(bare);
    });

    it('raises an allowance until a time', async () => {
      const raise = { window: 'day', by: '10.00', until: '2026-12-31T00:00Z' };
      const edited = (await edit({ raise })).as<KeyShape>('OneKey');
      const raised = { by: '10.00', until: '2026-12-31T00:00:00.000Z' };
      expect(edited.allowances).to.deep.equal([{ ...DAY, left: '15.00', raised }]);
      expect((await edit({ raise: { window: 'day', by: '0' } })).json).to.deep.include({
        allowances: [DAY],
      });
    });

    const wrong: [string, object, string][] = [
      ['a blank name', { name: ' ' }, 'name'],
      ['no models', { models: [] }, 'models'],
      ['a limit below an allowance', { limit: '4.00' }, 'limit'],
      ['an end in the past', { expires: '2020-01-01T00:00:00Z' }, 'expires'],
      ['an unknown field', { secret: 'tg-x' }, 'secret'],
      ['an unknown window', { allowances: { decade: '1' } }, 'allowances'],
      ['a window of the length of another', { allowances: { '24h': '1' } }, 'allowances'],
      ['a rate of 0', { rates: { tokens_per_minute: 0 } }, 'rates.tokens_per_minute'],
      ['a raise without an end', { raise: { window: 'day', by: '1' } }, 'raise.until'],
      [
        'a raise of nothing it has',
        { raise: { window: 'week', by: '1', until: '2027-01-01T00:00Z' } },
        'raise',
      ],
      ['a raise by nothing', { raise: { window: 'day' } }, 'raise'],
    ];
    for (const [what, body, param] of wrong) {
      it(`refuses ${what}, and changes nothing`, async () => {
        expect((await edit(body)).refusal()).to.deep.equal([400, 'invalid_request', param]);
        const { data } = (await ann.get('/api/keys')).as<{ data: KeyShape[] }>('KeyList');
        expect(data[0]).to.deep.include({ name: 'laptop', limit: null, allowances: [DAY] });
      });
    }

    it('lets people lower the rate that gateway.yaml gives each key, but not lift it', async () => {
      const rates = (requests_per_minute: number | null) => ({ rates: { requests_per_minute } });
      const above = [400, 'invalid_request', 'rates.requests_per_minute'];
      expect((await edit(rates(101))).refusal()).to.deep.equal(above);
      const fresh = { name: 'b', ...rates(101) };
      expect((await ann.send('POST', '/api/keys', fresh)).refusal()).to.deep.equal(above);
      const boss = await here.house.signIn('boss', { operator: true });
      const path = `/api/accounts/${ann.account_id}/keys/${key.id}`;
      expect((await boss.send('PATCH', path, rates(500))).status).to.equal(200);
      expect((await edit(rates(501))).refusal()).to.deep.equal(above);
      for (const rate of [500, 100, 7, null])
        expect((await edit(rates(rate))).status).to.equal(200);
    });

    it('keeps a model that the gateway lost, but takes no other unknown one', async () => {
      const { store } = here.house.gateway;
      await store.editKey(key.id, { models: ['lost'] });
      expect((await edit({ models: ['lost', 'acme-chat'] })).status).to.equal(200);
      expect((await edit({ models: ['lost', 'none'] })).refusal()).to.deep.equal([
        400,
        'model_not_found',
        'models[1]',
      ]);
    });

    it('revives an expired key only where the account may have one more', async () => {
      await edit({ expires_in_s: 60 });
      here.ground.now_ms += 60_000;
      for (const name of ['b', 'c']) await ann.send('POST', '/api/keys', { name });
      const revival = await edit({ expires: null });
      expect(revival.refusal()).to.deep.equal([400, 'invalid_request', null]);
      expect(revival.text).to.include('at most 2 active keys: revoke one first');
    });

    it('rotates a key: both secrets work until the overlap ends', async () => {
      const made = (await rotate({ overlap_s: 3_600 })).as<NewKey>('NewKey');
      expect(made).to.include({ id: key.id, previous_until: '2026-11-20T11:00:00.000Z' });
      expect((await byKey(key.secret)).status).to.equal(200);
      expect((await byKey(made.secret)).status).to.equal(200);
      here.ground.now_ms += 3_600_000;
      expect((await byKey(key.secret)).status).to.equal(401);
      expect((await byKey(made.secret)).status).to.equal(200);
    });

    it('counts no secret of a rotated key as a guess of a wrong key', async () => {
      await rotate({});
      for (let at = 0; at < 30; at += 1) expect((await byKey(key.secret)).status).to.equal(401);
    });

    it('rotates once for a request that names the prefix, however often it is sent', async () => {
      const body = { overlap_s: 60, prefix: key.prefix };
      expect((await rotate(body)).status).to.equal(200);
      expect((await rotate(body)).refusal()).to.deep.equal([400, 'invalid_request', 'prefix']);
      expect((await byKey(key.secret)).status).to.equal(200);
    });

    it('gives a suspended account no new secret', async () => {
      await here.house.gateway.store.suspend(ann.account_id);
      expect((await rotate({})).refusal()).to.deep.equal([403, 'account_suspended', null]);
    });

    it('knows no key of another account, nor one that is revoked', async () => {
      const bob = await here.house.signIn('bob');
      expect((await edit({ name: 'mine' }, key.id, bob)).status).to.equal(404);
      expect((await rotate({}, bob)).status).to.equal(404);
      expect((await edit({ name: 'mine' }, 'key_none')).status).to.equal(404);
      await ann.send('DELETE', `/api/keys/${key.id}`);
      expect((await edit({ name: 'mine' })).status).to.equal(404);
      expect((await rotate({})).status).to.equal(404);
      expect((await here.house.stranger.send('PATCH', `/api/keys/${key.id}`, {})).status).to.equal(
        401,
      );
    });

    it('takes a PATCH from its own pages only', async () => {
      const body = { name: 'taken' };
      const headers = { origin: 'https://evil.example' };
      const reply = await ann.send('PATCH', `/api/keys/${key.id}`, body, headers);
      expect(reply.status).to.equal(403);
    });

    it('lets operators alone change an account, whose limits its people see', async () => {
      const path = `/api/accounts/${ann.account_id}`;
      const body = { allowances: { month: '60.00' }, rates: { concurrent_requests: 20 } };
      expect((await ann.send('PATCH', path, body)).status).to.equal(403);
      const boss = await here.house.signIn('boss', { operator: true });
      const limits = (await boss.send('PATCH', path, body)).as<AccountShape>('LimitedAccount');
      expect(limits).to.have.nested.property('allowances[0].amount', '60.00');
      const own = (await ann.get('/api/account')).as<AccountShape>('OwnAccount');
      expect(own).to.deep.include({ rates: { concurrent_requests: 20 } });
      expect(own).to.have.nested.property('allowances[0].returns', '2026-12-01T00:00:00.000Z');
      expect((await boss.get(path)).as('LimitedAccount')).to.deep.equal(limits);
      const one = `${path}/keys/${key.id}`;
      expect((await boss.send('PATCH', one, { name: 'theirs' })).as('OneKey')).to.include({
        name: 'theirs',
      });
      expect((await boss.send('POST', `${one}/rotate`, {})).status).to.equal(200);
      const zero = { rates: { requests_per_minute: 0 } };
      expect((await boss.send('PATCH', path, zero)).refusal()[2]).to.equal(
        'rates.requests_per_minute',
      );
      expect((await boss.send('PATCH', '/api/accounts/acc_none', {})).status).to.equal(404);
    });

    const minuteRate = (rate: string, amount: number, left: number) => ({
      rate,
      amount,
      left,
      returns: '2026-11-20T10:01:00.000Z',
    });

    it('tells a key what is left of each of its rates, those of gateway.yaml too', async () => {
      const { store } = here.house.gateway;
      const rates = { tokens_per_minute: 1_000_000, concurrent_requests: 8 };
      await store.editAccount(ann.account_id, { rates });
      const { secret } = await store.createKey(ann.account_id, 'bare');
      here.ground.now_ms += 12_000;
      const body = { model: 'acme-chat', messages: [{ role: 'user', content: 'Hi' }] };
      const called = await fetch(`${here.house.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { usage } = (await called.json()) as { usage: { total_tokens: number } };
      const tokens_left = 1_000_000 - usage.total_tokens;
      const answer = (await (await byKey(secret)).json()) as CallingKey;
      expect(answer.rates_left).to.deep.equal([minuteRate('requests_per_minute', 100, 99)]);
      expect(answer.account.rates_left).to.deep.equal([
        minuteRate('tokens_per_minute', 1_000_000, tokens_left),
        { rate: 'concurrent_requests', amount: 8, left: 8, returns: null },
      ]);
      const other = (await (await byKey(key.secret)).json()) as CallingKey;
      expect(other.rates_left).to.deep.equal([minuteRate('requests_per_minute', 60, 60)]);
      expect(other.account).to.deep.equal(answer.account);
    });

    it('tells a key its own terms, what is left of them, and the limits of its account', async () => {
      const { store } = here.house.gateway;
      await store.editAccount(ann.account_id, { rates: { tokens_per_minute: 5 } });
      const answer = await byKey(key.secret);
      expect(answer.status).to.equal(200);
      const body = (await answer.json()) as object;
      const { secret: _secret, last_used: _used, ...terms } = key;
      expect(body).to.deep.include({
        ...terms,
        account: {
          available: '10.00',
          rates: { tokens_per_minute: 5 },
          allowances: [],
          rates_left: [minuteRate('tokens_per_minute', 5, 5)],
        },
      });
      expect((await ann.get('/api/key')).refusal()).to.deep.equal([401, 'invalid_api_key', null]);
      expect((await byKey('tg-none')).status).to.equal(401);
      expect(await store.isKey(sha256(key.secret))).to.equal(true);
    });
  },
);
