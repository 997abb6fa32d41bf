import { expect } from 'chai';
import { setTimeout as wait } from 'node:timers/promises';
import { ask, type Answer } from './ask.js';
import type { TestGateway } from './gateway.js';

export interface VideoResult {
  request_id: string;
  status: string;
  data?: { url: string }[];
  error?: string;
}

const DEADLINE_MS = 60_000;

/** Submits a video task as a client does. */
export function submitVideo(
  gateway: TestGateway,
  model: string,
  parameters: object = {},
): Promise<Answer> {
  return ask(gateway, `/v1/queue/${model}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'a kite', parameters }),
  });
}

/** Submits a task, asks for its result until it has ended, and gives that. */
export async function makeVideo(
  gateway: TestGateway,
  model: string,
  parameters: object = {},
): Promise<VideoResult> {
  const { status, text } = await submitVideo(gateway, model, parameters);
  expect(status, text).to.equal(202);
  const { request_id } = JSON.parse(text) as VideoResult;
  const end = Date.now() + DEADLINE_MS;
  while (Date.now() < end) {
    const answer = await ask(gateway, `/v1/queue/${model}/requests/${request_id}`);
    expect(answer.status, answer.text).to.equal(200);
    const result = JSON.parse(answer.text) as VideoResult;
    if (result.status !== 'IN_QUEUE' && result.status !== 'IN_PROGRESS') return result;
    await wait(5);
  }
  throw new Error('The task never ended.');
}

/** The bytes of one video of a result. */
export async function fetchVideo(
  gateway: TestGateway,
  result: VideoResult,
  index = 0,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: Buffer }> {
  const url = new URL(result.data?.[index]?.url ?? '', gateway.url);
  const authorization = `Bearer ${gateway.secret}`;
  const path = gateway.url + url.pathname + url.search;
  const response = await fetch(path, { headers: { authorization, ...headers } });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}
