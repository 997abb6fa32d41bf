import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model } from '../../core/model.js';
import type { AspectRatio, Resolution } from '../../core/task.js';
import type { VideoParameters } from '../../schema-types/video-submission.js';
import type { VideoCall } from './codec.js';
import { videoMaxCost } from './price.js';
import { ableUpstreams, videoDefaults, videoWork } from './formats/video-submission.js';

const ASPECTS: readonly AspectRatio[] = ['16:9', '9:16'];

/** The default video, or the first one that an upstream makes for a price. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  for (const parameters of candidates(model)) {
    const { call } = videoWork({ prompt: 'A red fox in the snow', parameters }, model);
    const able = ableUpstreams(call, model.upstreams);
    if (able.length === 0) continue;
    const held_nano = videoMaxCost(call, able);
    return billSample(textOfCall(call), held_nano, able, (one) => {
      const { off_peak: _, ...price } = one.price;
      return videoMaxCost(call, [{ ...one, price }]);
    });
  }
  return billSample('video: none that an upstream makes has a price', 0n, [], () => 0n);
}

/** The parameters to try, those of the default video first: upstreams accept few of them. */
function candidates({ limits, upstreams }: Model): VideoParameters[] {
  const standard = videoDefaults({ limits, upstreams });
  const { resolutions } = limits.video ?? {};
  const priced = upstreams.flatMap(({ price }) => [...(price.per_video_second?.keys() ?? [])]);
  const free = (resolutions ?? [standard.resolution]).flatMap((one) => kindsOf(one));
  const kinds = [...kindsOf(standard.resolution), ...priced, ...free].map(
    (kind) => kind.split('/') as [Resolution, string],
  );
  return kinds
    .filter(([resolution]) => resolutions?.includes(resolution) ?? true)
    .flatMap(([resolution, sound]) =>
      secondsUpTo(standard.duration_seconds).flatMap((duration_seconds) =>
        ASPECTS.map((aspect_ratio) => ({
          resolution,
          generate_audio: sound === 'audio',
          duration_seconds,
          aspect_ratio,
        })),
      ),
    );
}

function kindsOf(resolution: Resolution): string[] {
  return [`${resolution}/audio`, `${resolution}/silent`];
}

/** Whole seconds, the longest first. */
function secondsUpTo(most: number): number[] {
  return Array.from({ length: most }, (_, at) => most - at);
}

function textOfCall({ duration_seconds, resolution, generate_audio }: VideoCall): string {
  const sound = generate_audio ? 'audio' : 'silent';
  return `video: ${duration_seconds} seconds of ${resolution}, ${sound}`;
}
