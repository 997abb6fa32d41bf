import { expect } from 'chai';
import { until } from '../../helpers/until.js';
import { toyAnswer, toyFiles, toyStream } from '../../helpers/toy-adapter.js';
import { play, type Handler, type Step } from '../../helpers/upstream.js';
import {
  dataOf,
  HELLO,
  HELLO_MAX_NANO,
  INPUT_NANO,
  onlyCharge,
  OUTPUT_NANO,
  scriptedGateways,
} from '../../money/helpers/scripted-gateway.js';

const USAGE = { prompt_tokens: 7, completion_tokens: 2 };
const TOY = { uses: './toy.yaml', files: toyFiles('max: 1') };
const THREE = { ...HELLO, n: 3 };

interface Chunk {
  choices?: { index: number; delta: { content?: string }; finish_reason: string | null }[];
  usage?: object;
  error?: object;
}

/** Answers the first call by the first step, and so on, whatever the order in which they end. */
function inOrder(...steps: readonly Step[]): Handler {
  let next = 0;
  return (_, response) => play(steps[next++] ?? {}, response);
}

const answer = (content: string): Step => toyAnswer([{ content }], USAGE);
const stream = (...words: string[]): Step =>
  toyStream([
    ...words.map((content) => ({ index: 0, content })),
    { index: 0, finish_reason: 'stop' },
    { usage: USAGE },
    'end',
  ]);

function chunksOf(text: string): { chunks: Chunk[]; isDone: boolean } {
  const events = dataOf(text);
  const chunks = events
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Chunk);
  return { chunks, isDone: events.at(-1) === '[DONE]' };
}

/** The text of each choice. */
function textsOf(chunks: readonly Chunk[]): string[] {
  const texts: string[] = [];
  for (const { index, delta } of chunks.flatMap(({ choices = [] }) => choices)) {
    texts[index] = (texts[index] ?? '') + (delta.content ?? '');
  }
  return texts;
}

describe('several choices of an upstream that gives one a call', () => {
  const open = scriptedGateways();

  it('are asked for by as many calls, and answered and billed as one', async () => {
    const house = await open(inOrder(answer('a'), answer('b'), answer('c')), TOY);
    const { choices, usage } = (await (await house.post(THREE)).json()) as {
      choices: { index: number; message: { content: string } }[];
      usage: object;
    };
    expect(choices.map(({ index }) => index)).to.deep.equal([0, 1, 2]);
    const contents = choices.map(({ message }) => message.content);
    expect(contents).to.have.members(['a', 'b', 'c']);
    expect(usage).to.include({ prompt_tokens: 21, completion_tokens: 6 });
    expect(house.upstream.requests.map(({ json }) => (json as { n: number }).n)).to.deep.equal([
      1, 1, 1,
    ]);
    expect((await onlyCharge(house)).amount_nano).to.equal(-(21n * INPUT_NANO + 6n * OUTPUT_NANO));
  });

  it('are held for with the prompt of each call', async () => {
    const needed = 3n * HELLO_MAX_NANO;
    const credit = (nano: bigint): string => `0.${nano.toString().padStart(9, '0')}`;
    const poor = await open(answer('a'), { ...TOY, credit: credit(needed - 1n) });
    expect((await poor.post(THREE)).status).to.equal(402);
    const rich = await open(answer('a'), { ...TOY, credit: credit(needed) });
    expect((await rich.post(THREE)).status).to.equal(200);
    await onlyCharge(rich);
  });

  it('are streamed side by side, with one usage at the end', async () => {
    const house = await open(inOrder(stream('a', 'b'), stream('c'), stream('d', 'e')), TOY);
    const body = { ...THREE, stream: true };
    const { chunks, isDone } = chunksOf(await (await house.post(body)).text());
    expect(isDone).to.equal(true);
    expect(textsOf(chunks)).to.have.members(['ab', 'c', 'de']);
    const usages = chunks.flatMap(({ usage }) => usage ?? []);
    expect(usages).to.have.length(1);
    expect(usages[0]).to.include({ prompt_tokens: 21, completion_tokens: 6 });
    const { estimated, amount_nano } = await onlyCharge(house);
    expect(estimated).to.equal(false);
    expect(amount_nano).to.equal(-(21n * INPUT_NANO + 6n * OUTPUT_NANO));
  });

  it('end in an error, the other calls aborted, where one of them fails at once', async () => {
    const never = new Promise<void>(() => undefined);
    const slow = { ...answer('a'), hold: never };
    const house = await open(inOrder(slow, { status: 500 }, slow), TOY);
    expect((await house.post(THREE)).status).to.equal(502);
    const all = await Promise.all(house.upstream.requests.map(({ closed }) => closed));
    expect(all.filter((isWhole) => !isWhole)).to.have.length(2);
    expect(await house.charges()).to.deep.equal([]);
  });

  it('go to the next upstream as a whole where one of them fails at once', async () => {
    const failing = inOrder(answer('a'), { status: 503 }, answer('c'));
    const house = await open({ one: failing, two: answer('from two') }, TOY);
    const text = await (await house.post(THREE)).text();
    expect(text.match(/from two/gu)).to.have.length(3);
    expect((await onlyCharge(house)).provider).to.equal('two');
  });

  it('end in an error event without [DONE] where one of them breaks off', async () => {
    let goOn = (): void => undefined;
    const begun = new Promise<void>((resolve) => (goOn = resolve));
    const never = new Promise<void>(() => undefined);
    const open_end = toyStream([{ index: 0, content: 'waits' }, never]);
    const broken = toyStream([{ index: 0, content: 'breaks' }, begun, 'bad']);
    const house = await open(inOrder(open_end, broken, open_end), TOY);
    const response = await house.post({ ...THREE, stream: true });
    goOn();
    const { chunks, isDone } = chunksOf(await response.text());
    expect(isDone).to.equal(false);
    expect(textsOf(chunks)).to.have.members(['waits', 'breaks', 'waits']);
    expect(chunks.at(-1)).to.have.nested.property('error.code', 'upstream_error');
    const ends = await Promise.all(house.upstream.requests.map(({ closed }) => closed));
    expect(ends.filter((isWhole) => !isWhole)).to.have.length.at.least(2);
    const { estimated, usage } = await onlyCharge(house);
    expect(estimated).to.equal(true);
    // The prompt of each of three calls: a token of text, and four around the message.
    expect(JSON.parse(usage ?? '')).to.include({ prompt_tokens: 15 });
  });

  it('are all aborted when the client leaves', async () => {
    const never = new Promise<void>(() => undefined);
    const slow = { ...answer('a'), hold: never };
    const house = await open(inOrder(slow, slow, slow), { ...TOY, provider: 'on_abort: abort' });
    const leaving = new AbortController();
    const gone = house.post(THREE, { signal: leaving.signal }).catch(() => 'gone');
    await until(() => house.upstream.requests.length === 3, 'three calls');
    leaving.abort();
    expect(await gone).to.equal('gone');
    const ends = await Promise.all(house.upstream.requests.map(({ closed }) => closed));
    expect(ends).to.deep.equal([false, false, false]);
  });

  it('are asked for by one call where the manifest does not limit them', async () => {
    const house = await open(toyAnswer([{ content: 'a' }, { content: 'b' }], USAGE), {
      ...TOY,
      files: toyFiles(),
    });
    expect((await house.post({ ...HELLO, n: 2 })).status).to.equal(200);
    expect(house.upstream.requests).to.have.length(1);
    await onlyCharge(house);
  });
});
