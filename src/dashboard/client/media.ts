import { showCost } from './show-cost.js';
import { call, callJson, posting } from './gateway.js';
import { element } from './elements.js';
import type { Call } from './shown-code.js';
import { Stopwatch } from './stopwatch.js';
import { follow, type Turn } from './turns.js';

const POLL_MS = 1000;
const PNG = 'data:image/png;base64,';

interface Images {
  data: { b64_json?: string; revised_prompt?: string }[];
}

interface Task {
  request_id: string;
  status_url: string;
  response_url: string;
}

interface Result {
  status: string;
  error?: string;
  data?: { url: string }[];
  usage?: { video_seconds: number };
}

/**
 * Requests images. The answer holds their bytes, so that the page loads nothing from another site.
 */
export async function image(turn: Turn, { path, body }: Call, signal: AbortSignal): Promise<void> {
  turn.note('Drawing…');
  const watch = new Stopwatch();
  const answer = await call(path, { ...posting({ ...body, response_format: 'b64_json' }), signal });
  const { data } = (await answer.json()) as Images;
  const times = watch.summary();
  turn.note('');
  for (const { b64_json = '', revised_prompt = '' } of data) {
    const image = element('img');
    image.alt = revised_prompt || 'The image';
    image.src = PNG + b64_json;
    turn.root.append(image);
  }
  await showCost(turn, answer.headers.get('x-request-id') ?? '', times);
}

/** Requests a video, shows its progress, and plays it. */
export async function video(turn: Turn, { path, body }: Call, signal: AbortSignal): Promise<void> {
  const watch = new Stopwatch();
  const task = await callJson<Task>(path, body, signal);
  const progress = element('progress');
  progress.setAttribute('aria-label', 'Making the video');
  turn.root.append(progress);
  try {
    await finished(turn, task, signal);
  } finally {
    progress.remove();
  }
  const result = await callJson<Result>(task.response_url, undefined, signal);
  const times = watch.summary();
  turn.note('');
  for (const { url } of result.data ?? []) await play(turn, url, signal);
  const seconds = result.usage ? [`${result.usage.video_seconds} s of video`] : [];
  await showCost(turn, task.request_id, [...seconds, ...times.map((time) => `made in ${time}`)]);
}

async function finished(turn: Turn, task: Task, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { status, error } = await callJson<Result>(task.status_url, undefined, signal);
    if (status === 'COMPLETED') return;
    if (status === 'FAILED') throw new Error(error ?? 'The video failed.');
    turn.note(status === 'IN_QUEUE' ? 'Waiting in the queue…' : 'Making the video…');
    await pause(signal);
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Stopped.', 'AbortError'));
    });
  });
}

/** The bytes need the key, which a video element cannot send, so they are fetched here. */
async function play(turn: Turn, url: string, signal: AbortSignal): Promise<void> {
  const bytes = await (await call(url, { signal })).blob();
  const player = element('video');
  player.controls = true;
  player.src = URL.createObjectURL(bytes);
  turn.root.append(player);
  player.addEventListener('loadeddata', () => follow(turn.root.closest('#output')));
  const link = element('a', 'Download');
  link.href = player.src;
  link.download = 'video.mp4';
  turn.root.append(link);
}
