import { expect } from 'chai';
import { askSimulator } from '../../helpers/simulator.js';

interface Answer {
  data: { index: number; embedding: number[] | string }[];
  usage: { prompt_tokens: number; total_tokens: number };
}

async function embed(body: object): Promise<Answer> {
  const { status, json } = await askSimulator('POST', '/embeddings', {
    body: { model: 'm', ...body },
  });
  expect(status).to.equal(200);
  return json as unknown as Answer;
}

describe("the simulator's embeddings", () => {
  it('are the same for the same text, and others for others', async () => {
    const { data } = await embed({ input: ['cat', 'cat', 'dog'] });
    expect(data.map(({ index }) => index)).to.deep.equal([0, 1, 2]);
    expect(data[0]?.embedding).to.deep.equal(data[1]?.embedding);
    expect(data[0]?.embedding).not.to.deep.equal(data[2]?.embedding);
  });

  it('have length 1 and as many numbers as asked for', async () => {
    const { data } = await embed({ input: 'cat', dimensions: 7 });
    const vector = data[0]?.embedding as number[];
    expect(vector).to.have.length(7);
    expect(Math.hypot(...vector)).to.be.closeTo(1, 1e-6);
  });

  it('are the same numbers as base64', async () => {
    const floats = await embed({ input: 'cat', dimensions: 3 });
    const packed = await embed({ input: 'cat', dimensions: 3, encoding_format: 'base64' });
    const bytes = Buffer.from(String(packed.data[0]?.embedding), 'base64');
    const read = [0, 4, 8].map((at) => bytes.readFloatLE(at));
    expect(read).to.deep.equal(floats.data[0]?.embedding);
  });

  it('count tokens by length, and token lists by themselves', async () => {
    const { usage } = await embed({ input: ['12345678', '1'] });
    expect(usage).to.deep.equal({ prompt_tokens: 3, total_tokens: 3 });
    const { usage: tokens, data } = await embed({ input: [5, 6, 7] });
    expect([tokens.prompt_tokens, data.length]).to.deep.equal([3, 1]);
  });

  for (const [what, body] of [
    ['no input', {}],
    ['too many dimensions', { input: 'cat', dimensions: 5_000 }],
  ] as const) {
    it(`are refused for ${what}`, async () => {
      expect((await askSimulator('POST', '/embeddings', { body })).status).to.equal(400);
    });
  }
});
