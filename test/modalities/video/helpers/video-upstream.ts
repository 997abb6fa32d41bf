import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { startUpstream, type FakeUpstream, type Received } from '../../../helpers/upstream.js';

/** What the lab says about a film: the body of a poll's answer, or a whole answer of its own. */
export type Say = object | ((response: ServerResponse, received: Received) => void | Promise<void>);

/** A fake upstream that speaks the wire of `test/fixtures/video/codec.mjs`. */
export interface VideoUpstream extends FakeUpstream {
  /** Bodies of submissions, in their order; `film` is the ID they were given. */
  films: { film: string; body: Record<string, unknown> }[];
  /** How often each film was asked about. */
  asked: Map<string, number>;
  /** How a submission is answered where it is not taken; `nth` counts from 1. */
  onSubmit: ((nth: number, response: ServerResponse) => Say | undefined) | undefined;
  /** What is said of a film when it is asked about for the nth time, from 1. */
  onPoll: (film: string, nth: number) => Say;
  /** What is said to the demand to drop a film. */
  onCancel: (film: string) => Say;
  /** How a reel is served. */
  onReel: (received: Received, response: ServerResponse) => void | Promise<void>;
}

export const REEL = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 251));

/** Its files, to be put beside gateway.yaml. */
/** `hosts` are those of files that the lab's manifests list. */
export async function videoUpstreamFiles(
  hosts: readonly string[] = [],
): Promise<Record<string, string>> {
  const read = (name: string) =>
    readFile(new URL(`../../../fixtures/video/${name}`, import.meta.url), 'utf8');
  const lab = `${await read('lab.yaml')}wire: { image_hosts: ${JSON.stringify(hosts)} }\n`;
  return {
    'lab.yaml': lab,
    'single.yaml': lab.replace('max: 4', 'max: 1'),
    'triple.yaml': lab.replace('max: 4', 'max: 3'),
    'codec.mjs': await read('codec.mjs'),
  };
}

export async function startVideoUpstream(): Promise<VideoUpstream> {
  const upstream = await startUpstream((received, response) => handle(received, response));
  const state: Omit<VideoUpstream, keyof FakeUpstream> = {
    films: [],
    asked: new Map(),
    onSubmit: undefined,
    onPoll: (film) => ({ state: 'done', reels: reelsOf(lab, film) }),
    onCancel: () => ({}),
    onReel: (_received, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': REEL.length });
      response.end(REEL);
    },
  };
  const lab: VideoUpstream = Object.assign(upstream, state);

  async function handle(received: Received, response: ServerResponse): Promise<void> {
    const { path } = received;
    if (path.startsWith('/reels/')) return lab.onReel(received, response);
    if (path === '/films') return submit(received, response);
    const film = path.split('/')[2] ?? '';
    if (path.endsWith('/cancel')) return say(lab.onCancel(film), received, response);
    const nth = (lab.asked.get(film) ?? 0) + 1;
    lab.asked.set(film, nth);
    await say(lab.onPoll(film, nth), received, response);
  }

  async function submit(received: Received, response: ServerResponse): Promise<void> {
    const body = received.json as Record<string, unknown>;
    const film = `f${lab.films.length + 1}`;
    lab.films.push({ film, body });
    await say(lab.onSubmit?.(lab.films.length, response) ?? { film }, received, response);
  }

  return lab;
}

/** As many reels as the film was asked for. */
export function reelsOf(lab: VideoUpstream, film: string): string[] {
  const count = lab.films.find((one) => one.film === film)?.body.sample_count;
  return Array.from({ length: Number(count) }, (_, at) => `/reels/${film}-${at}`);
}

async function say(what: Say, received: Received, response: ServerResponse): Promise<void> {
  if (typeof what === 'function') {
    await (what as (response: ServerResponse, received: Received) => unknown)(response, received);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(what));
}

/** An answer of that status, with a body that is JSON unless it is text. */
export function answer(status: number, body: object | string = {}): Say {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Closes the connection without a word. */
export function hangUp(): Say {
  return (response: ServerResponse) => void response.socket?.destroy();
}
