import { expect } from 'chai';
import { toyAnswer, toyFiles, toyStream } from '../helpers/toy-adapter.js';
import { chatJson } from '../helpers/upstream.js';
import { HELLO, onlyCharge, scriptedGateways } from '../money/helpers/scripted-gateway.js';

const USAGE = { prompt_tokens: 3, completion_tokens: 1 };
const ANSWER = toyAnswer([{ content: 'from the toy' }], USAGE);
/** The toy's wire has no `stop`, and leaves out `user`. */
const TOY = { uses: { toy: './toy.yaml', other: './toy.yaml' }, files: toyFiles() };

interface Refusal {
  error: { code: string; param: string; message: string };
}

describe('a request that the wire of an upstream cannot say', () => {
  const open = scriptedGateways();

  it('goes to the next upstream, whose wire can', async () => {
    const house = await open({ toy: ANSWER, open: chatJson('from the other') }, TOY);
    const answer = await house.post({ ...HELLO, stop: 'x' });
    expect(await answer.text()).to.contain('from the other');
    expect(house.upstreams.toy?.requests).to.have.length(0);
    expect((await onlyCharge(house)).provider).to.equal('open');
  });

  it('is 400 naming the field where no upstream can', async () => {
    const house = await open({ toy: ANSWER, other: ANSWER }, TOY);
    const answer = await house.post({ ...HELLO, stop: 'x' });
    expect(answer.status).to.equal(400);
    const { error } = (await answer.json()) as Refusal;
    expect(error).to.include({ code: 'invalid_request', param: 'stop' });
    expect(error.message).to.equal('This wire has no stop.');
    expect(await house.charges()).to.deep.equal([]);
  });

  it('is 502 where one can, but fails, so that the client does not mend what is sound', async () => {
    const failing = { status: 503, body: 'busy' };
    for (const scripts of [
      { toy: ANSWER, open: failing },
      { open: failing, toy: ANSWER },
    ]) {
      const house = await open(scripts, TOY);
      expect((await house.post({ ...HELLO, stop: 'x' })).status).to.equal(502);
    }
  });
});

describe('what an upstream could not be told', () => {
  const open = scriptedGateways();
  const ignoredOf = async (answer: Response): Promise<string | null> => {
    await answer.text();
    return answer.headers.get('tollgate-ignored');
  };

  it('is named in the header, behind what no upstream is told', async () => {
    const house = await open({ toy: ANSWER }, TOY);
    const body = { ...HELLO, user: 'me', flavour: 'x' };
    expect(await ignoredOf(await house.post(body))).to.equal('flavour, user');
    await onlyCharge(house);
  });

  it('is named in the header of a stream too', async () => {
    const said = [{ index: 0, content: 'Hi', finish_reason: 'stop' }, { usage: USAGE }, 'end'];
    const house = await open({ toy: toyStream(said) }, TOY);
    expect(await ignoredOf(await house.post({ ...HELLO, user: 'me', stream: true }))).to.equal(
      'user',
    );
    await onlyCharge(house);
  });

  it('is that of the upstream which answers, not of one that failed before it', async () => {
    const house = await open({ toy: { status: 500 }, open: chatJson('Hi') }, TOY);
    expect(await ignoredOf(await house.post({ ...HELLO, user: 'me' }))).to.equal(null);
    await onlyCharge(house);
  });
});
