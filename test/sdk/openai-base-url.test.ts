import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';

const SIMULATED = 'owner: acme, upstreams: [{ provider: simulator }]';
const TOKENS = 'price: { input_per_million: 1, output_per_million: 2 }';

describe('the openai package, whose base URL is /openai/v1 once and for all', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  before(async () => {
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers: { simulator: {} }
models:
  talk: { ${SIMULATED}, capabilities: [chat], ${TOKENS} }
  judge: { ${SIMULATED}, capabilities: [moderation], price: { input_per_million: 1 } }
  voice: { ${SIMULATED}, capabilities: [speech], price: { per_million_characters: 15 } }
  ears: { ${SIMULATED}, capabilities: [transcription], price: { per_audio_minute: 0.006 } }
`,
      { credit: '1' },
    );
    const { url, secret } = gateway;
    client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: secret, maxRetries: 0 });
  });
  after(() => gateway.close());

  it('moderates, where it was told 404', async () => {
    const { results } = await client.moderations.create({ model: 'judge', input: 'Hello' });
    expect(results).to.have.length(1);
  });

  it('speaks, transcribes and translates, where it was told 404', async () => {
    const said = { model: 'voice', voice: 'alloy', input: 'The toll is paid.' };
    const sound = await client.audio.speech.create(said);
    const file = await toFile(Buffer.from(await sound.arrayBuffer()), 'speech.mp3');
    const asked = { file, model: 'ears' };
    expect((await client.audio.transcriptions.create(asked)).text).to.equal('The toll is paid.');
    expect((await client.audio.translations.create(asked)).text).to.equal('The toll is paid.');
  });

  it('completes a prompt, where it was told 404', async () => {
    const { object, choices } = await client.completions.create({ model: 'talk', prompt: 'Hi' });
    expect(object).to.equal('text_completion');
    expect(choices[0]?.text).not.to.equal('');
  });

  it('counts the tokens of a response', async () => {
    const counted = await client.responses.inputTokens.count({ model: 'talk', input: 'Hello!' });
    expect(counted.object).to.equal('response.input_tokens');
    expect(counted.input_tokens).to.be.above(0);
  });

  it('is charged as at /v1', async () => {
    const costs = async () => {
      const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 100 });
      return rows.filter(({ kind }) => kind === 'charge').map(({ amount_nano }) => amount_nano);
    };
    const { url, secret } = gateway;
    for (const baseURL of [`${url}/v1`, `${url}/openai/v1`]) {
      const at = new OpenAI({ baseURL, apiKey: secret, maxRetries: 0 });
      const said = { model: 'voice', voice: 'alloy', input: 'Four' };
      // The charge is written before the last byte.
      await (await at.audio.speech.create(said)).arrayBuffer();
    }
    expect((await costs()).filter((cost) => cost === -60_000n)).to.have.length(2);
  });
});
