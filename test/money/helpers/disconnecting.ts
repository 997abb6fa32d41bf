import { expect } from 'chai';
import { sse, type Step } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import { HELLO, onlyCharge, type ScriptedGateway } from './scripted-gateway.js';

export const STREAM = { ...HELLO, stream: true };
export const DRAIN = 'on_abort: drain';
export const never = new Promise<void>(() => undefined);

/** A promise and what resolves it. */
export function gate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export const delta = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
export const ENDING = [
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 40 } },
  'data: [DONE]\n\n',
];

/** "one two", then what is given; 40 tokens at the end, which only a drained stream tells. */
export function talking(after: readonly (string | object | Promise<unknown>)[]): Step {
  return sse([delta('one'), delta(' two'), ...after]);
}

/** Two delivered tokens and the five of the prompt, at our own count. */
export const DELIVERED_NANO = -1950n;
export const TRUE_NANO = -25_350n;

/** Asks, reads until " two" is here, and goes. */
export async function readAndDisconnect(
  gateway: ScriptedGateway,
  body: object = STREAM,
): Promise<void> {
  const leaving = new AbortController();
  const response = await gateway.post(body, { signal: leaving.signal });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes(' two')) break;
  }
  leaving.abort();
}

/** Asks, and goes before there is any answer. */
export async function askAndDisconnect(gateway: ScriptedGateway, body: object): Promise<void> {
  const leaving = new AbortController();
  const asking = gateway.post(body, { signal: leaving.signal });
  const gone = asking.catch(() => undefined);
  await until(() => gateway.upstream.requests.length === 1, 'the call reaches the upstream');
  leaving.abort();
  await gone;
}

export async function closedWhole(gateway: ScriptedGateway): Promise<boolean | undefined> {
  return gateway.upstream.requests[0]?.closed;
}

/** Holds the only charge to an amount, and to whether it was estimated. */
export async function expectCharged(
  gateway: ScriptedGateway,
  expected: { amount_nano: bigint; estimated: boolean },
): Promise<void> {
  const { amount_nano, estimated } = await onlyCharge(gateway);
  expect({ amount_nano, estimated }).to.deep.equal(expected);
}
