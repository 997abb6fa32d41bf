import { expect } from 'chai';
import { askSimulator } from '../../helpers/simulator.js';

interface Result {
  flagged: boolean;
  categories: Record<string, boolean>;
  category_scores: Record<string, number>;
}

async function judge(input: unknown): Promise<Result[]> {
  const { json } = await askSimulator('POST', '/moderations', { body: { model: 'm', input } });
  return json.results as Result[];
}

describe('the simulator, moderating', () => {
  it('flags what says so, and nothing else', async () => {
    const [good, bad] = await judge(['Hello', 'Hello [flag]']);
    expect([good?.flagged, bad?.flagged]).to.deep.equal([false, true]);
    expect(Object.values(good?.categories ?? {})).not.to.include(true);
    expect(bad?.categories.violence).to.equal(true);
    expect(bad?.category_scores.violence).to.equal(0.99);
    expect(await judge(['Hello', 'Hello [flag]'])).to.deep.equal([good, bad]);
  });

  it('judges parts together', async () => {
    const image_url = { url: 'https://example.com/[flag].png' };
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url },
    ];
    expect((await judge(parts)).map(({ flagged }) => flagged)).to.deep.equal([true]);
  });

  it('refuses no input', async () => {
    expect((await askSimulator('POST', '/moderations', { body: {} })).status).to.equal(400);
  });
});
