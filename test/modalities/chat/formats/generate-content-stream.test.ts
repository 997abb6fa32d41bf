import { expect } from 'chai';
import { GoogleGenAI } from '@google/genai';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';

const said = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const WHOLE = [
  said({ content: 'Grüße' }),
  said({}, 'stop'),
  { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join('')
  .concat('data: [DONE]\n\n');
const BYTES = Buffer.from(WHOLE);

/** Calls at once. */
const LANES = 8;

describe('a stream of the Gemini API', () => {
  let upstream: FakeUpstream;
  let house: TestGateway;
  let client: GoogleGenAI;

  /** The upstream cuts its stream after as many bytes as the prompt says. */
  before(async () => {
    upstream = await startUpstream(({ json }, response) => {
      const { messages } = json as { messages: { content: string }[] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      const bytes = BYTES.subarray(0, Number(messages[0]?.content));
      response.write(bytes.length > 0 ? bytes : '', () => response.socket?.destroy());
    });
    house = await startGateway(`
owners: { acme: { name: Acme } }
providers: { acme: { uses: openai, base_url: '${upstream.url}', api_key: sk } }
models: { m: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: free } }
`);
    client = new GoogleGenAI({ apiKey: house.secret, httpOptions: { baseUrl: house.url } });
  });
  after(async () => {
    await house.close();
    await upstream.close();
  });

  interface Heard {
    isWhole: boolean;
    text: string;
  }

  /** What a client hears of each stream, cut after byte n for all n. */
  async function everyCut(hear: (cut: number) => Promise<Heard>): Promise<Heard[]> {
    const heard: Heard[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let cut = next++; cut <= BYTES.length; cut = next++) heard[cut] = await hear(cut);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return heard;
  }

  const wholeOnes = (heard: readonly Heard[]): number[] =>
    heard.flatMap(({ isWhole }, cut) => (isWhole ? [cut] : []));

  it(`looks whole to Google's client for none of ${BYTES.length} cuts before its end`, async () => {
    const heard = await everyCut(async (cut) => {
      let text = '';
      let finish: string | undefined;
      try {
        const request = { model: 'm', contents: String(cut) };
        for await (const chunk of await client.models.generateContentStream(request)) {
          text += chunk.text ?? '';
          finish = chunk.candidates?.[0]?.finishReason ?? finish;
        }
        return { isWhole: true, text };
      } catch {
        expect(finish, `the finish reason after a cut at ${cut}`).to.equal(undefined);
        return { isWhole: false, text };
      }
    });
    expect(wholeOnes(heard)).to.deep.equal([BYTES.length]);
    expect(new Set(heard.map(({ text }) => text))).to.deep.equal(new Set(['', 'Grüße']));
  });

  const post = async (cut: number, query: string): Promise<Heard> => {
    const response = await fetch(`${house.url}/v1beta/models/m:streamGenerateContent${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': house.secret },
      body: JSON.stringify({ contents: { parts: { text: String(cut) } } }),
    });
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const bytes of response.body ?? []) text += decoder.decode(bytes as Uint8Array);
      return { isWhole: response.status === 200, text };
    } catch {
      return { isWhole: false, text };
    }
  };

  it(`breaks off as a list for each of ${BYTES.length} cuts, and says why`, async () => {
    const heard = await everyCut((cut) => post(cut, ''));
    expect(wholeOnes(heard)).to.deep.equal([BYTES.length]);
    for (const { isWhole, text } of heard) {
      if (isWhole) expect(JSON.parse(text)).to.have.length(2);
      else {
        expect(text).not.to.include('finishReason');
        expect(text).to.include('"status":"UNAVAILABLE"');
        if (text.startsWith('[')) expect(() => JSON.parse(text) as unknown).to.throw();
      }
    }
  });

  it('tells its end with its last event, and with nothing before', async () => {
    const { text } = await post(BYTES.length, '?alt=sse');
    const events = text.trimEnd().split('\r\n\r\n');
    const last = events.pop();
    expect(events.join('')).to.include('Grüße');
    expect(events.join('')).not.to.include('finishReason');
    expect(last).to.include('"finishReason":"STOP"').and.to.include('"usageMetadata"');
  });

  it('says why an event stream broke off', async () => {
    const { text, isWhole } = await post(BYTES.length - 20, '?alt=sse');
    expect(isWhole).to.equal(false);
    expect(text).to.match(/data: \{"error":\{"code":502,.*"status":"UNAVAILABLE"\}\}\r\n\r\n$/u);
  });
});
