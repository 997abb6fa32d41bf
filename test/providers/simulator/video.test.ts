import { expect } from 'chai';
import { BufferSource, Input, MP4 } from 'mediabunny';
import { jobOf, newJob, progressOf } from '../../../providers/simulator/job.js';
import { textIn } from '../../../providers/simulator/wire.js';
import { video } from '../../../providers/simulator.js';
import type { VideoCall } from '../../../src/modalities/video/codec.js';
import { askSimulator, type SimulatorAnswer } from '../../helpers/simulator.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { VideoRequest } from '../../../src/core/task.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';

const UPSTREAM = upstreamAt(providerAt('http://simulator.invalid'));
const CALL: VideoCall = {
  prompt: 'a toll gate at dawn',
  aspect_ratio: '16:9',
  resolution: '720p',
  duration_seconds: 2,
  generate_audio: true,
  sample_count: 1,
  negative_prompt: undefined,
  image: undefined,
};
const WANTED = {
  prompt: 'a toll gate',
  resolution: '720p',
  aspect_ratio: '16:9',
  seconds: 1,
  audio: false,
  count: 2,
};
const AT_ONCE = { video_takes: '0s' };

function ask(request: VideoRequest, settings: object): Promise<SimulatorAnswer> {
  return askSimulator(request.method, request.path, { body: request.body, settings });
}

async function submit(change: Partial<VideoCall>, settings: object): Promise<JsonObject> {
  const call = { ...CALL, ...change };
  const reply = await ask(video.submit(call, UPSTREAM), settings);
  expect(reply.status).to.equal(200);
  return video.submitted(reply.json, call, UPSTREAM);
}

async function poll(state: JsonObject): Promise<ReturnType<typeof video.polled>> {
  const { status, json } = await ask(video.poll(state, UPSTREAM), {});
  return video.polled({ status, body: json }, state, UPSTREAM);
}

function idOf(state: JsonObject): string {
  return textIn(state, 'id') ?? '';
}

interface ReadFilm {
  width: number | undefined;
  height: number | undefined;
  seconds: number | undefined;
  sound: { codec: string | null; seconds: number } | undefined;
}

/** A film as a player reads it. Packets of sound do not end with a second. */
async function readMp4(bytes: Buffer): Promise<ReadFilm> {
  const input = new Input({ formats: [MP4], source: new BufferSource(bytes) });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  return {
    width: video?.displayWidth,
    height: video?.displayHeight,
    seconds: await video?.computeDuration(),
    sound: audio
      ? { codec: audio.codec, seconds: Math.round(await audio.computeDuration()) }
      : undefined,
  };
}

/** The ID of a job that is done already, for two videos. */
function finished(more: object = {}): string {
  return newJob({ ...WANTED, ...more }, Date.now() - 10_000, 0);
}

describe("the simulator's videos", () => {
  it('wait at first, and need no memory of the process that took them', async () => {
    const state = await submit({}, { video_takes: '1h' });
    expect(await poll(state)).to.deep.equal({ status: 'IN_QUEUE' });
    expect(Object.keys(state)).to.deep.equal(['id']);
    expect(jobOf(idOf(state))).to.include({ takes_ms: 3_600_000, seconds: 2 });
  });

  it('take three seconds where nothing is said', async () => {
    expect(jobOf(idOf(await submit({}, {})))?.takes_ms).to.equal(3_000);
  });

  for (const [passed_ms, status, progress] of [
    [-5, 'queued', 0],
    [99, 'queued', 9],
    [100, 'in_progress', 10],
    [999, 'in_progress', 99],
    [1_000, 'completed', 100],
    [9_999_999, 'completed', 100],
  ] as const) {
    it(`are ${status} ${passed_ms} ms after the start of a second's work`, () => {
      const job = jobOf(newJob(WANTED, 5_000, 1_000));
      expect(job && progressOf(job, 5_000 + passed_ms)).to.deep.equal({ status, progress });
    });
  }

  it('fail at their end where the prompt says so', async () => {
    const job = jobOf(newJob({ ...WANTED, prompt: 'please [fail]' }, 5_000, 1_000));
    expect(job && progressOf(job, 5_999)).to.include({ status: 'in_progress' });
    expect(job && progressOf(job, 6_000)).to.include({ status: 'failed' });
    const state = await submit({ prompt: 'please [fail]' }, AT_ONCE);
    expect(await poll(state)).to.deep.equal({
      status: 'FAILED',
      error: 'The drill found [fail] in the prompt.',
    });
    const path = `/videos/${idOf(state)}/content?index=0`;
    expect((await askSimulator('GET', path)).status).to.equal(409);
  });

  for (const [resolution, aspect_ratio, width, height] of [
    ['720p', '16:9', 1280, 720],
    ['1080p', '9:16', 1080, 1920],
    ['4k', '16:9', 3840, 2160],
  ] as const) {
    it(`are what was asked for, at ${resolution} and ${aspect_ratio}`, async () => {
      const change = { resolution, aspect_ratio, generate_audio: resolution === '4k' };
      const state = await submit({ ...change, sample_count: 3, duration_seconds: 3 }, AT_ONCE);
      const done = await poll(state);
      const places = 'status' in done && done.status === 'COMPLETED' ? done.videos : [];
      expect(places).to.have.length(3);
      const replies = await Promise.all(places.map(({ request }) => ask(request, AT_ONCE)));
      expect(new Set(replies.map(({ bytes }) => bytes.toString('hex'))).size).to.equal(3);
      for (const { status, headers, bytes } of replies) {
        expect(status).to.equal(200);
        expect(headers).to.include({
          'content-type': 'video/mp4',
          'content-length': String(bytes.length),
          'accept-ranges': 'bytes',
        });
        const sound = resolution === '4k' ? { codec: 'aac', seconds: 3 } : undefined;
        expect(await readMp4(bytes)).to.deep.equal({ width, height, seconds: 3, sound });
      }
    });
  }

  for (let seconds = 1; seconds <= 8; seconds += 1) {
    it(`last ${seconds} s by every clock, and are begun by their tables`, async () => {
      const path = `/videos/${finished({ seconds, audio: true })}/content`;
      const { bytes } = await askSimulator('GET', path);
      const { sound, ...film } = await readMp4(bytes);
      expect(film).to.deep.equal({ width: 1280, height: 720, seconds });
      expect(sound).to.deep.equal({ codec: 'aac', seconds });
      expect(bytes.readUInt32BE(bytes.indexOf('mvhd') + 20)).to.equal(seconds * 1_000);
      expect(bytes.indexOf('moov')).to.be.below(bytes.indexOf('mdat'));
    });
  }

  it('differ by prompt and by image, and not from one call to the next', async () => {
    const image = { base64: 'iVBORw0KGgo=', mime_type: 'image/png' as const };
    const bytes: string[] = [];
    for (const change of [{}, { prompt: 'another' }, { image }, {}]) {
      const id = idOf(await submit(change, AT_ONCE));
      const path = `/videos/${id}/content`;
      bytes.push((await askSimulator('GET', path)).bytes.toString('hex'));
    }
    expect(new Set(bytes).size).to.equal(3);
    expect(bytes[3]).to.equal(bytes[0]);
  });

  it('have IDs of their own, even if begun in one moment', () => {
    expect(newJob(WANTED, 5, 5)).to.not.equal(newJob(WANTED, 5, 5));
  });

  it('tell all about themselves to who asks without the codec', async () => {
    const id = finished();
    const { json } = await askSimulator('GET', `/videos/${id}`);
    expect(json).to.deep.include({ id, object: 'video', status: 'completed', progress: 100 });
    expect(json).to.deep.include({ seconds: 1, audio: false, count: 2, error: null });
  });

  for (const [field, value] of [
    ['prompt', ''],
    ['prompt', undefined],
    ['resolution', '480p'],
    ['aspect_ratio', '1:1'],
    ['seconds', 9],
    ['seconds', 1.5],
    ['seconds', '4'],
    ['audio', 'yes'],
    ['count', 0],
    ['count', 5],
  ] as const) {
    it(`are refused for ${field} ${JSON.stringify(value)}`, async () => {
      const body = { ...WANTED, [field]: value };
      const { status, json } = await askSimulator('POST', '/videos', { body });
      expect(status).to.equal(400);
      expect(json.error).to.include({ param: field });
    });
  }

  it('are unknown by any other ID, index or path', async () => {
    const forged = Buffer.from(JSON.stringify({ ...WANTED, seconds: 900 })).toString('base64url');
    const id = finished();
    for (const path of [
      '/videos/nothing',
      '/videos/video_nothing',
      `/videos/video_${forged}`,
      `/videos/${id}/content?index=2`,
      `/videos/${id}/content?index=-1`,
      `/videos/${id}/content?index=`,
      `/videos/${id}/picture`,
      `/videos/${id}/content/0`,
      '/videos',
    ]) {
      expect((await askSimulator('GET', path)).status, path).to.equal(404);
    }
  });

  it('have no content before they are finished', async () => {
    const id = newJob(WANTED, Date.now(), 3_600_000);
    expect((await askSimulator('GET', `/videos/${id}/content?index=0`)).status).to.equal(409);
  });

  it('come in part where a range is asked for', async () => {
    const path = `/videos/${finished()}/content?index=1`;
    const { bytes: all } = await askSimulator('GET', path);
    const end = all.length - 1;
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 0],
      ['bytes=10-', 10, end],
      [`bytes=${end}-`, end, end],
      ['bytes=5-99999999', 5, end],
      ['bytes=-7', end - 6, end],
      ['bytes=-99999999', 0, end],
    ] as const) {
      const reply = await askSimulator('GET', path, { headers: { Range: range } });
      expect(reply.status, range).to.equal(206);
      expect(reply.headers).to.include({
        'content-range': `bytes ${from}-${to}/${all.length}`,
        'content-length': String(to - from + 1),
      });
      expect(reply.bytes.equals(all.subarray(from, to + 1)), range).to.equal(true);
    }
  });

  it('come whole for ranges that cannot be read, and not at all for those beyond', async () => {
    const path = `/videos/${finished()}/content`;
    const { bytes: all } = await askSimulator('GET', path);
    for (const range of ['bytes=-', 'bytes=0-1,3-4', 'lines=1-2']) {
      const reply = await askSimulator('GET', path, { headers: { range } });
      expect(reply.status, range).to.equal(200);
      expect(reply.bytes.equals(all)).to.equal(true);
    }
    for (const range of [`bytes=${all.length}-`, 'bytes=9-8', 'bytes=-0']) {
      const reply = await askSimulator('GET', path, { headers: { range } });
      expect(reply.status, range).to.equal(416);
      expect(reply.headers).to.include({ 'content-range': `bytes */${all.length}` });
    }
  });

  it('fail by the settings of the provider', async () => {
    const { path } = video.poll({ id: finished() }, UPSTREAM);
    const limited = await askSimulator('GET', path, { settings: { fail: 429 } });
    expect(limited.status).to.equal(429);
    const cut = askSimulator('GET', `${path}/content`, { settings: { fail: 'cut' } });
    expect(await cut.catch(String)).to.match(/cut/u);
  });
});

describe("the codec of the simulator's videos", () => {
  it('asks for what the call says, in the words of the wire', () => {
    const image = { base64: 'iVBORw0KGgo=', mime_type: 'image/png' as const };
    const call = { ...CALL, negative_prompt: 'rain', image, sample_count: 2 };
    expect(video.submit(call, UPSTREAM)).to.deep.equal({
      method: 'POST',
      path: '/videos',
      credentials: true,
      body: {
        model: 'fake-1',
        prompt: 'a toll gate at dawn',
        negative_prompt: 'rain',
        resolution: '720p',
        aspect_ratio: '16:9',
        seconds: 2,
        audio: true,
        count: 2,
        image,
      },
    });
    expect(video.submit(CALL, UPSTREAM).body).to.not.have.any.keys('negative_prompt', 'image');
  });

  const state = { id: 'video_1' };
  const polled = (status: number, body: unknown) => video.polled({ status, body }, state, UPSTREAM);

  it('tells queued and in_progress apart', () => {
    expect(polled(200, { status: 'queued' })).to.deep.equal({ status: 'IN_QUEUE' });
    expect(polled(200, { status: 'in_progress' })).to.deep.equal({ status: 'IN_PROGRESS' });
  });

  for (const [what, read, fault] of [
    ['a submission without an ID', () => video.submitted({}, CALL, UPSTREAM), 'broken'],
    ['a submission that is no object', () => video.submitted([], CALL, UPSTREAM), 'broken'],
    ['a status that nobody knows', () => polled(200, { status: 'lost' }), 'broken'],
    ['an answer that is no object', () => polled(200, 'done'), 'broken'],
    ['a rate limit', () => polled(429, { error: { message: 'slow' } }), 'rate_limited'],
    ['an unknown job', () => polled(404, {}), 'missing'],
  ] as const) {
    it(`throws for ${what}`, () => {
      expect(read).to.throw(UpstreamError).with.property('fault', fault);
    });
  }
});
