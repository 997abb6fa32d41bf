import { expect } from 'chai';
import { video as gemini } from '../../providers/gemini.js';
import { video as vertex } from '../../providers/vertex.js';
import type { VideoCall, VideoCodec } from '../../src/modalities/video/codec.js';
import { classifyError } from '../../src/upstream/classify-error.js';
import { VIDEO_CALL, veoAt } from '../helpers/veo.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Upstream } from '../../src/core/model.js';

const NEW = 'veo-3.1-generate-001';
const LITE = 'veo-3.1-lite-generate-001';
const OLD = 'veo-2.0-generate-001';
const PICTURE = { base64: 'QUJD', mime_type: 'image/png' } as const;

function refused(codec: VideoCodec, call: Partial<VideoCall>, model = NEW): string | undefined {
  return codec.refuse?.({ ...VIDEO_CALL, ...call }, veoAt({ model }))?.param;
}

describe('what Veo does not make', () => {
  for (const [call, onGemini, onVertex, model] of [
    [{}, undefined, undefined],
    [{ duration_seconds: 4 }, undefined, undefined],
    [{ duration_seconds: 6 }, undefined, undefined],
    [{ duration_seconds: 5 }, 'duration_seconds', 'duration_seconds'],
    [{ duration_seconds: 7 }, 'duration_seconds', 'duration_seconds'],
    [{ duration_seconds: 1 }, 'duration_seconds', 'duration_seconds'],
    [{ resolution: '1080p' }, undefined, undefined],
    [{ resolution: '4k' }, undefined, undefined],
    [{ resolution: '1080p', duration_seconds: 6 }, 'duration_seconds', undefined],
    [{ resolution: '4k', duration_seconds: 4 }, 'duration_seconds', undefined],
    [{ resolution: '4k' }, 'resolution', 'resolution', LITE],
    [{ resolution: '1080p' }, undefined, undefined, LITE],
    [{ generate_audio: false }, 'generate_audio', undefined],
    [{ image: PICTURE }, undefined, undefined],
    [{ image: { ...PICTURE, mime_type: 'image/webp' } }, 'image', 'image'],
    [{ generate_audio: false, duration_seconds: 5 }, undefined, undefined, OLD],
    [{ generate_audio: false, duration_seconds: 4 }, 'duration_seconds', 'duration_seconds', OLD],
    [{ generate_audio: false, resolution: '1080p' }, 'resolution', 'resolution', OLD],
    [{ generate_audio: true }, 'generate_audio', 'generate_audio', OLD],
  ] as [Partial<VideoCall>, string?, string?, string?][]) {
    const said = JSON.stringify(call) + (model ? ` by ${model}` : '');
    it(`is told for ${said}`, () => {
      const param = (name?: string) => name && `parameters.${name}`;
      expect(refused(gemini, call, model)).to.equal(param(onGemini));
      expect(refused(vertex, call, model)).to.equal(param(onVertex));
    });
  }

  it('is told for an image of more than 20 MB', () => {
    const base64 = 'A'.repeat(28 * 1024 ** 2);
    const image = { ...PICTURE, base64 };
    expect(refused(vertex, { image })).to.equal('parameters.image');
  });

  it('is told in a sentence that begins with the field', () => {
    const call = { ...VIDEO_CALL, duration_seconds: 5 };
    expect(gemini.refuse?.(call, veoAt({ model: NEW }))?.message).to.equal(
      'parameters.duration_seconds must be one of 4, 6, 8 for this model.',
    );
  });
});

describe('a submission to Veo', () => {
  const body = (codec: VideoCodec, call: Partial<VideoCall>, more: Partial<Upstream> = {}) =>
    codec.submit({ ...VIDEO_CALL, ...call }, veoAt({ model: NEW, ...more })).body;

  it('has what the Gemini API knows: seconds as a number, bytes, no word of sound (quirks 20 to 22)', () => {
    const call = { image: PICTURE, negative_prompt: 'rain' };
    expect(body(gemini, call)).to.deep.equal({
      instances: [
        { prompt: 'a kite', image: { bytesBase64Encoded: 'QUJD', mimeType: 'image/png' } },
      ],
      parameters: {
        aspectRatio: '16:9',
        resolution: '720p',
        durationSeconds: 8,
        negativePrompt: 'rain',
      },
    });
  });

  it('has sound and count on Vertex, whatever they are (quirk 21)', () => {
    expect(body(vertex, { generate_audio: false, sample_count: 3 })).to.deep.equal({
      instances: [{ prompt: 'a kite' }],
      parameters: {
        aspectRatio: '16:9',
        resolution: '720p',
        durationSeconds: 8,
        sampleCount: 3,
        generateAudio: false,
      },
    });
  });

  it('has what the operator sets, but nothing that is priced', () => {
    const set = { storageUri: 'gs://b/f/', seed: 7, sampleCount: 4, durationSeconds: 4 };
    const { parameters } = body(vertex, {}, { set }) as { parameters: object };
    expect(parameters).to.include({ storageUri: 'gs://b/f/', seed: 7 });
    expect(parameters).to.include({ sampleCount: 1, durationSeconds: 8 });
  });

  it('tells Veo 2 neither of resolution nor of sound', () => {
    const { parameters } = body(vertex, {}, { model: OLD }) as { parameters: object };
    expect(parameters).to.not.have.any.keys('resolution', 'generateAudio');
  });

  it('goes to the model, with or without the folder before its name', () => {
    const path = (codec: VideoCodec, model: string): string =>
      codec.submit(VIDEO_CALL, veoAt({ model })).path;
    expect(path(gemini, `models/${NEW}`)).to.equal(`/models/${NEW}:predictLongRunning`);
    expect(path(vertex, NEW)).to.equal(`/publishers/google/models/${NEW}:predictLongRunning`);
    expect(() => path(gemini, '../x')).to.throw(UpstreamError);
  });

  for (const answer of [{}, { name: '' }, { name: '../x/operations/1' }, [], 'text']) {
    it(`is broken where the answer is ${JSON.stringify(answer)}`, () => {
      const read = () => gemini.submitted(answer, VIDEO_CALL, veoAt({ model: NEW }));
      expect(read).to.throw(UpstreamError).with.property('fault', 'broken');
    });
  }

  for (const message of [
    "The prompt could not be submitted: it violates Google's Responsible AI practices.",
    'The input was blocked. Support codes: 123',
    "It breaks Vertex AI's usage guidelines.",
  ]) {
    it(`is refused by the rules on content where it says ${message}`, () => {
      const error = { code: 400, message, status: 'INVALID_ARGUMENT' };
      expect(classifyError(400, {}, JSON.stringify({ error })).fault).to.equal('policy');
    });
  }
});
