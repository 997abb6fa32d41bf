import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../../src/gateway/check.js';
import { startVideoGateway } from './helpers/video-gateway.js';

const HEAD = `owners: { me: { name: Me } }
providers: { simulator: {} }
models: { sim: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: free } }
`;
const SUBMIT = [
  'auth',
  'validate: video-submission',
  'route: { capability: video }',
  'balance',
  'transform: video.submit',
];
const DOWNLOAD = ['auth', 'route: video', 'transform: video.download', 'meter: once'];
const RESULT = ['auth', 'route: task', 'transform: video.result', 'meter: once'];

const without = (stages: readonly string[], at: number) => stages.toSpliced(at, 1);
const replaced = (stages: readonly string[], at: number, by: string) => stages.with(at, by);

/** [what, its stages, the codes of its faults, words of the first one] */
const CASES: [string, string[], string[], ...string[]][] = [
  ['a submission as it should be', SUBMIT, []],
  ['a result as it should be', RESULT, []],
  ['a download as it should be', DOWNLOAD, []],
  ['a download that is not charged', without(DOWNLOAD, 3), ['no_meter'], '"meter: once"'],
  ['a download by the ID of the queue', replaced(DOWNLOAD, 1, 'route: task'), ['wrong_fact']],
  ['a submission without a hold', without(SUBMIT, 3), ['no_hold'], 'transform', '"balance"'],
  ['a submission with a gate alone', replaced(SUBMIT, 3, 'balance: gate'), ['no_hold']],
  ['a submission without a body', without(SUBMIT, 1), ['missing_fact'], '"request"'],
  [
    'a chat body',
    replaced(SUBMIT, 1, 'validate: chat-completion'),
    ['wrong_fact'],
    '"chat-completion"',
    'write validate: video-submission',
  ],
  ['a result that is not charged', without(RESULT, 3), ['no_meter'], '"meter: once"'],
  [
    'a result charged like a chat',
    replaced(RESULT, 3, 'meter'),
    ['wrong_meter'],
    'write meter: once in its place',
  ],
  ['a charge for a status', replaced(RESULT, 2, 'transform: video.status'), ['wrong_fact']],
  ['a charge twice', replaced(RESULT, 3, 'meter: twice'), ['stage_option'], '"once"'],
  ['a task without an account', without(RESULT, 0), ['missing_fact']],
  ['a task as content', replaced(RESULT, 1, 'route: content'), ['wrong_fact'], '"content"'],
  [
    'an operation that there is not',
    ['auth', 'route: task', 'transform: video.stats'],
    ['stage_option'],
    'did you mean "video.status"?',
  ],
];

describe('the boot check of the video queue', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-inspect-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [what, stages, codes, ...words] of CASES) {
    it(`${codes.length === 0 ? 'finds' : 'refuses'} ${what}`, async () => {
      const file = join(folder, 'gateway.yaml');
      const list = stages.map((stage) => `      - ${stage}\n`).join('');
      const method = stages.some((stage) => stage.startsWith('validate')) ? 'POST' : 'GET';
      const at = `${method} /{model}`;
      await writeFile(file, `${HEAD}endpoints:\n  one:\n    at: ${at}\n    stages:\n${list}`);
      const { faults } = await check(file, {});
      expect(faults.map(({ code }) => code)).to.deep.equal(codes);
      const [first] = faults;
      for (const word of words) expect(`${first?.message} ${first?.hint}`).to.contain(word);
    });
  }
});

describe('a video queue on other paths', () => {
  it('answers with links to its own paths', async () => {
    const settings = `endpoints:
  models: { at: GET /v1/models, stages: [auth, models] }
  begin: { at: 'POST /films/{model}', stages: [${SUBMIT.join(', ')}] }
  look: { at: 'GET /films/{model}/of/{requestID}/now', stages: [auth, route: task, transform: video.status] }
  take: { at: 'GET /films/{model}/of/{requestID}', stages: [${RESULT.join(', ')}] }
  view: { at: 'GET /reels/{requestID}/{index}/of/{model}', stages: [auth, route: content, transform: video.content] }
`;
    const gateway = await startVideoGateway({ settings });
    try {
      const answer = await gateway.get('/films/studio%2Ffilm-1', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"prompt":"x"}',
      });
      expect(answer.status, answer.text).to.equal(202);
      const { status_url = '', response_url = '' } = JSON.parse(answer.text) as Record<
        string,
        string
      >;
      expect(status_url).to.match(/^\/films\/studio%2Ffilm-1\/of\/[0-9a-f-]{36}\/now$/u);
      expect((await gateway.get(status_url)).status).to.equal(200);
      const { data } = JSON.parse((await gateway.get(response_url)).text) as {
        data: { url: string }[];
      };
      expect(data[0]?.url).to.match(/^\/reels\/vid_[\w-]{32}\/0\/of\/studio%2Ffilm-1$/u);
      expect((await gateway.get(data[0]?.url ?? '')).status).to.equal(200);
    } finally {
      await gateway.close();
    }
  });
});
