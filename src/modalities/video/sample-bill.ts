import { billSample, type SampleBill } from '../../billing/sample-bill.js';
import type { Model } from '../../core/model.js';
import type { Resolution } from '../../core/task.js';
import { videoMaxCost } from './price.js';
import { fitting, videoWork } from './formats/video-submission.js';

/** One video of the first kind that has a price. */
export async function sampleBill(model: Model): Promise<SampleBill> {
  const kinds = model.upstreams.flatMap(({ price }) => [...(price.per_video_second?.keys() ?? [])]);
  const { resolutions } = model.limits.video ?? {};
  const parts = kinds.map((kind) => kind.split('/') as [Resolution, string]);
  const [resolution, sound] = parts.find(([one]) => resolutions?.includes(one) ?? true) ?? [
    resolutions?.[0] ?? '720p',
    'audio',
  ];
  const parameters = { resolution, generate_audio: sound === 'audio' };
  const { call } = videoWork({ prompt: 'A red fox in the snow', parameters }, model);
  const able = fitting(call, model.upstreams);
  const request = `video: ${call.duration_seconds} seconds of ${resolution}, ${sound}`;
  const held_nano = videoMaxCost(call, able);
  return billSample(request, held_nano, able, (one) => videoMaxCost(call, [one]));
}
