import { expect } from 'chai';
import { isChatCodec } from '../../../src/modalities/chat/codec.js';
import { toyFiles, toyStream } from '../../helpers/toy-adapter.js';
import {
  dataOf,
  HELLO,
  onlyCharge,
  scriptedGateways,
} from '../../money/helpers/scripted-gateway.js';

const STREAM = { ...HELLO, stream: true };
const USAGE = { prompt_tokens: 7, completion_tokens: 2 };
const TOY = { uses: './toy.yaml', files: toyFiles() };

describe('a stream whose codec has frames of its own', () => {
  const open = scriptedGateways();

  it('reaches the client as chunks and is charged by its usage', async () => {
    const words = [
      { index: 0, content: 'Good ' },
      { index: 0, content: 'day' },
    ];
    const house = await open(
      toyStream([...words, { index: 0, finish_reason: 'stop' }, { usage: USAGE }, 'end']),
      TOY,
    );
    const events = dataOf(await (await house.post(STREAM)).text());
    expect(events.join('')).to.contain('"content":"Good "').and.to.contain('"content":"day"');
    expect(events.at(-1)).to.equal('[DONE]');
    const { usage, estimated } = await onlyCharge(house);
    expect(JSON.parse(usage ?? '')).to.include(USAGE);
    expect(estimated).to.equal(false);
  });

  it('ends without [DONE] where the frames break off', async () => {
    const house = await open(toyStream([{ index: 0, content: 'Good ' }]), TOY);
    const events = dataOf(await (await house.post(STREAM)).text());
    expect(events.at(-1)).to.contain('"upstream_error"');
    expect((await onlyCharge(house)).estimated).to.equal(true);
  });

  it('ends without [DONE] where a frame is longer than limits.event', async () => {
    const long = { index: 0, content: 'long '.repeat(500) };
    let goOn = (): void => undefined;
    const begun = new Promise<void>((resolve) => (goOn = resolve));
    const house = await open(toyStream([{ index: 0, content: 'Good ' }, begun, long, 'end']), {
      ...TOY,
      settings: 'limits: { event: 2kb }',
    });
    const answer = await house.post(STREAM);
    goOn();
    const events = dataOf(await answer.text());
    expect(events.at(-1)).to.contain('Too long.').and.not.to.contain('[DONE]');
    await onlyCharge(house);
  });
});

describe('whether an export is a chat codec', () => {
  const methods = { encode: () => 0, decode: () => 0, decodeStream: () => 0 };
  it('is true with frames or without, and false where the frames are no function', () => {
    expect(isChatCodec(methods)).to.equal(true);
    expect(isChatCodec({ ...methods, openFrames: () => 0 })).to.equal(true);
    expect(isChatCodec({ ...methods, openFrames: 'lines' })).to.equal(false);
    expect(isChatCodec({ ...methods, decode: undefined })).to.equal(false);
  });
});
