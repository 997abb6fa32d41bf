import { expect } from 'chai';
import { AnswerBody, type BodySource } from '../../src/upstream/body.js';

const LARGE = Buffer.alloc(40 * 1024);

describe('AnswerBody.each', () => {
  let told: string[];
  let body: AnswerBody;
  let got: string[];

  const take = (packet: Buffer): undefined => void got.push(packet.toString());

  beforeEach(() => {
    told = [];
    got = [];
    const source: BodySource = {
      resume: () => void told.push('resume'),
      leave: () => void told.push('leave'),
    };
    body = new AnswerBody(source);
  });

  it('gives what has come, then each packet in the turn in which it comes', async () => {
    body.push(Buffer.from('a'));
    const over = body.each(take);
    expect(got).to.deep.equal(['a']);
    expect(body.push(Buffer.from('b'))).to.equal(true);
    expect(got).to.deep.equal(['a', 'b']);
    body.end();
    await over;
    expect(told).to.deep.equal(['resume']);
  });

  it('keeps packets while its reader is busy, and asks for a pause when they are too many', async () => {
    const waits: (() => void)[] = [];
    const over = body.each((packet) => {
      got.push(packet.toString('utf8', 0, 1));
      return new Promise((resolve) => waits.push(resolve));
    });
    body.push(Buffer.from('a'));
    expect(body.push(LARGE)).to.equal(true);
    expect(body.push(LARGE)).to.equal(false);
    body.push(Buffer.from('z'));
    body.end();
    expect(got).to.deep.equal(['a']);
    for (const count of [2, 3, 4]) {
      waits.shift()?.();
      await new Promise(setImmediate);
      expect(got).to.have.length(count);
    }
    waits.shift()?.();
    await over;
    expect(got.at(-1)).to.equal('z');
  });

  it('asks to go on once a busy reader has had all there was', async () => {
    let done = (): void => undefined;
    void body.each(() => new Promise((resolve) => void (done = resolve)));
    body.push(Buffer.from('a'));
    expect(told).to.deep.equal(['resume']);
    done();
    await new Promise(setImmediate);
    expect(told).to.deep.equal(['resume', 'resume']);
  });

  it('tells of a failure after what came before it', async () => {
    body.push(Buffer.from('a'));
    body.fail(new Error('cut'));
    expect(await body.each(take).catch(String)).to.equal('Error: cut');
    expect(got).to.deep.equal(['a']);
  });

  it('tells of a failure while its reader waits', async () => {
    const over = body.each(take);
    body.push(Buffer.from('a'));
    body.fail(new Error('cut'));
    expect(await over.catch(String)).to.equal('Error: cut');
  });

  for (const [how, fail] of [
    [
      'throws',
      () => {
        throw new Error('bad');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bad'))],
  ] as const) {
    it(`leaves with the error of a reader that ${how}`, async () => {
      const over = body.each(fail).catch(String);
      body.push(Buffer.from('a'));
      expect(await over).to.equal('Error: bad');
      expect(told.at(-1)).to.equal('leave');
      expect(body.push(Buffer.from('b'))).to.equal(true);
    });
  }

  it('is over when its reader leaves', async () => {
    const over = body.each((packet) => {
      take(packet);
      void body.return();
      return undefined;
    });
    body.push(Buffer.from('a'));
    body.push(Buffer.from('b'));
    await over;
    expect(got).to.deep.equal(['a']);
    expect(told).to.deep.equal(['resume', 'leave']);
  });
});
