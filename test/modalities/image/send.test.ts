import { expect } from 'chai';
import {
  imagesOf,
  json,
  painted,
  refusal,
  refused,
  eachImageGateway,
  type ImageGateway,
} from './helpers/image-gateway.js';

const GOOD = { model: 'single', prompt: 'A cat' };
const DOWN = json(500, { error: { message: 'Out of paint.' } });

describe('a request for more images than one upstream call makes', () => {
  let gateway: ImageGateway;
  eachImageGateway(
    (made) => (gateway = made),
    () => gateway,
  );

  const counts = (): unknown[] =>
    gateway.first.requests.map(({ json: body }) => (body as { n?: number }).n ?? 1);

  const charged = async (): Promise<bigint[]> =>
    (await gateway.charges()).map(({ amount_nano }) => amount_nano);

  for (const [model, n, shares] of [
    ['painter', 10, [10]],
    ['triple', 7, [3, 3, 1]],
    ['triple', 3, [3]],
    ['single', 4, [1, 1, 1, 1]],
  ] as const) {
    it(`is sent to ${model} as calls for ${shares.join(', ')}`, async () => {
      const { data } = imagesOf(await gateway.post({ ...GOOD, model, n }));
      expect(data).to.have.length(n);
      expect(counts()).to.have.members([...shares]);
    });
  }

  it('sends its calls at the same time', async () => {
    let open = (): void => undefined;
    const hold = new Promise<void>((resolve) => (open = resolve));
    gateway.paint = (_received, nth) => {
      if (nth === 3) open();
      return { ...painted(1), hold };
    };
    expect(imagesOf(await gateway.post({ ...GOOD, n: 3 })).data).to.have.length(3);
  });

  it('delivers and charges the images that were made', async () => {
    gateway.paint = (_received, nth) => (nth === 2 ? DOWN : nth === 3 ? refused() : painted(1));
    expect(imagesOf(await gateway.post({ ...GOOD, n: 5 })).data).to.have.length(3);
    expect(await charged()).to.deep.equal([-120_000_000n]);
  });

  it('delivers fewer where one call makes fewer, and never more', async () => {
    gateway.paint = () => painted(2);
    expect(imagesOf(await gateway.post({ ...GOOD, model: 'painter', n: 4 })).data).to.have.length(
      2,
    );
    expect(imagesOf(await gateway.post({ ...GOOD, model: 'painter', n: 1 })).data).to.have.length(
      1,
    );
    expect(await charged()).to.deep.equal([-80_000_000n, -40_000_000n]);
  });

  it('reports the sum of the usage of its calls', async () => {
    gateway.paint = (_received, nth) =>
      painted(1, { usage: { input_tokens: 10, output_tokens: nth } });
    const { usage } = imagesOf(await gateway.post({ ...GOOD, n: 3 }));
    expect(usage).to.deep.equal({ prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 });
  });

  it('is refused if all its calls are, with the message of the upstream', async () => {
    gateway.paint = () => refused('The prompt breaks the rules.');
    const answer = await gateway.post({ ...GOOD, n: 3 });
    expect(refusal(answer)).to.deep.equal([400, 'content_policy_violation', null]);
    expect(answer.text).to.include('The prompt breaks the rules.');
    expect(await charged()).to.deep.equal([]);
  });

  it('is answered with 502 if all its calls fail', async () => {
    gateway.paint = () => DOWN;
    const answer = await gateway.post({ ...GOOD, n: 3 });
    expect(refusal(answer)).to.deep.equal([502, 'upstream_error', null]);
    expect(await charged()).to.deep.equal([]);
  });
});
