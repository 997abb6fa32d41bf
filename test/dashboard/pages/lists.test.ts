import { expect } from 'chai';
import { chat } from '../../helpers/ask.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';
import { until } from '../../helpers/until.js';
import { submitVideo } from '../../helpers/video-client.js';

const TOKENS =
  'cached_tokens,cache_write_tokens,cache_write_1h_tokens,audio_input_tokens,' +
  'image_input_tokens,audio_output_tokens,image_output_tokens';
const UNITS = ['video_seconds', 'audio_seconds', 'images', 'characters'];
const COUNTS = `prompt_tokens,completion_tokens,${TOKENS},reasoning_tokens`;
const LEDGER =
  'id,created,kind,amount,uncollected,estimated,model,key,reference,refund_of,' +
  [...COUNTS.split(','), ...UNITS].map((unit) => `usage.${unit}`).join(',') +
  ',agent,saved,lost';
const KEYS =
  'id,name,prefix,created,last_used,expires,revoked,models,limit,spent,' +
  'rates.requests_per_minute,rates.tokens_per_minute,rates.concurrent_requests,allowances,' +
  'previous_until';
const REQUESTS_END =
  `status,code,streamed,${COUNTS},${UNITS.map((unit) => `units.${unit}`).join(',')},` +
  'first_token_ms,took_ms,own_ms,cost,uncollected,flags,attempts,agent,saved,lost';

/** Each list, as an operator sees it: its address, its file, the columns, and the number of rows and a text of them. */
const LISTS: [path: string, file: string, columns: string, rows: number, text: string][] = [
  ['/settings/keys', 'keys.csv', KEYS, 3, ',"Ada\'s ""old"", and gone",tg-'],
  ['/ledger', 'ledger.csv', `${LEDGER},cost,profit`, 2, ',charge,-0.0000'],
  [
    '/requests?status=200',
    'requests.csv',
    `id,time,account,key,endpoint,model,${REQUESTS_END}`,
    1,
    ',gpt-4o-mini,200,',
  ],
  [
    '/models?can=image',
    'models.csv',
    'id,owner,capabilities,context,max_tokens,free,price.input_per_million,' +
      'price.cached_input_per_million,price.cache_write_per_million,' +
      'price.cache_write_1h_per_million,price.audio_input_per_million,' +
      'price.image_input_per_million,price.output_per_million,' +
      'price.audio_output_per_million,price.image_output_per_million,' +
      'price.long_prompt,price.tiers,price.off_peak,price.per_tool_call,price.per_request,' +
      'price.per_image,price.per_video_second,price.per_million_characters,' +
      'price.per_audio_minute,description',
    1,
    'gpt-image-1,OpenAI,image,,,false,,,,,,,,,,,,,,,"{""standard"":""0.04"",""hd"":""0.08""}",,,,\r\n',
  ],
  [
    '/operator/requests?model=gpt-4o-mini',
    'requests.csv',
    `id,time,account,key,endpoint,model,provider,upstream_model,${REQUESTS_END},upstream_cost,profit`,
    1,
    ',gpt-4o-mini,simulator,gpt-4o-mini,200,',
  ],
  [
    '/operator/accounts',
    'accounts.csv',
    'id,name,balance,held,available,created,suspended',
    2,
    ",'=1+1,3.00,0.00,3.00,",
  ],
  [
    '/operator/accounts/ACCOUNT?tab=keys',
    'keys.csv',
    KEYS,
    3,
    ',gpt-4o-mini llama-3.3-70b,2.50,0.00,60,,20,"[{""window"":""week"",""amount"":""1.00"",',
  ],
  [
    '/operator/accounts/ACCOUNT?tab=ledger',
    'ledger.csv',
    `${LEDGER},cost,profit`,
    2,
    ',credit,10.00,',
  ],
  [
    '/operator/tokens',
    'tokens.csv',
    'id,name,prefix,scopes,created,last_used,expires,revoked',
    1,
    ',shop,tgm_',
  ],
  [
    '/operator/audit?account=ACCOUNT',
    'audit.csv',
    'id,time,actor.kind,actor.id,actor.name,action,subject,account,before,after,request_id',
    5,
    ',person,',
  ],
  [
    '/operator/tasks?status=COMPLETED',
    'tasks.csv',
    'id,status,account,key,model,provider,upstream_model,videos,held,charge,error,created,updated',
    0,
    '',
  ],
  [
    '/operator/providers',
    'providers.csv',
    'name,manifest,answered,refused,failed,last_success,last_failure.at,last_failure.fault,' +
      'last_failure.message',
    1,
    'simulator,simulator,',
  ],
  [
    '/operator/boxes',
    'boxes.csv',
    'host,listen,health,version,configuration,prices,clock_offset_ms,pids,started,seen,differs_in',
    1,
    ',ready,',
  ],
];

describe('a list page as CSV', () => {
  let dashboard: TestDashboard;
  let session: string;

  before(async () => {
    dashboard = await startDashboard();
    const { gateway, account, signIn } = dashboard;
    const { store } = gateway;
    session = await signIn(account.id, true);
    await store.createKey(account.id, 'Two', {
      models: ['gpt-4o-mini', 'llama-3.3-70b'],
      limit_nano: 2_500_000_000n,
      allowances: { week: 1_000_000_000n },
      rates: { requests_per_minute: 60, concurrent_requests: 20 },
    });
    const { key } = await store.createKey(account.id, 'Ada\'s "old", and gone');
    await send('/settings/keys', key.id);
    const stranger = await store.createAccount('=1+1', 3_000_000_000n);
    await store.createKey(stranger.id, 'Of a stranger');
    await store.tokens.create({ name: 'shop', scopes: ['accounts:read', 'keys:read'] });
    const messages = [{ role: 'user', content: 'Hello!' }];
    expect((await chat(dashboard, { model: 'gpt-4o-mini', messages })).status).to.equal(200);
    expect((await chat(dashboard, { model: 'nothing', messages })).status).to.equal(400);
    expect((await submitVideo(dashboard, 'google/veo-3.1')).status).to.equal(202);
    const recorded = () => store.requests.page({ limit: 9 });
    await until(async () => (await recorded()).length === 3, 'three records');
  });
  after(() => dashboard.close());

  /** Revokes a key as its owner does. */
  async function send(path: string, id: string): Promise<void> {
    const headers = { cookie: `session=${session}`, origin: dashboard.url };
    const form = { method: 'POST', headers, body: new URLSearchParams() };
    expect((await fetch(`${dashboard.url}${path}/${id}/revoke`, form)).status).to.equal(200);
  }

  async function get(path: string, as = session): Promise<Response> {
    const headers = { cookie: `session=${as}`, accept: 'text/html' };
    return fetch(dashboard.url + path.replace('ACCOUNT', dashboard.account.id), { headers });
  }

  for (const [path, file, columns, count, text] of LISTS) {
    it(`has the rows of ${path}, to which the page links`, async () => {
      const page = await (await get(path)).text();
      const linked = /href="([^"]*format=csv[^"]*)" download/u.exec(page)?.[1];
      const address = linked?.replaceAll('&amp;', '&') ?? `${path}&format=csv`;
      expect(linked !== undefined).to.equal(count > 0);
      const answer = await get(address);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal(
        'text/csv; charset=utf-8; header=present',
      );
      expect(answer.headers.get('content-disposition')).to.equal(`attachment; filename="${file}"`);
      const body = await answer.text();
      const [head, ...rows] = body.split('\r\n');
      expect(head).to.equal(columns);
      expect(rows.filter(Boolean)).to.have.length(count);
      expect(body).to.include(text);
    });
  }

  it('has nothing of another account, and no list of operators for anybody else', async () => {
    const { store } = dashboard.gateway;
    const { id } = await store.createAccount('other', 0n);
    const other = await dashboard.signIn(id);
    for (const path of ['/settings/keys', '/ledger', '/requests']) {
      const rows = (await (await get(`${path}?format=csv`, other)).text()).split('\r\n');
      expect(rows.filter(Boolean), path).to.have.length(1);
    }
    for (const name of ['requests', 'accounts', 'tokens', 'audit', 'tasks', 'boxes', 'providers']) {
      const answer = await get(`/operator/${name}?format=csv`, other);
      expect(answer.status, name).to.equal(403);
      expect(answer.headers.get('content-type')).to.include('text/html');
    }
  });

  it('is a page with the faults where its filter cannot be read', async () => {
    const answer = await get('/requests?from=x&format=csv');
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.include('The filter cannot be read');
  });
});
