import type { ServerResponse } from 'node:http';
import { answer, framed, type GeminiBody } from './gemini.js';
import { play, startUpstream, type FakeUpstream, type Received } from './upstream.js';

type Part = Record<string, unknown>;

interface Called {
  id?: string;
  name?: string;
}

/** What the service said in one turn of its script. */
export type Turn = readonly Part[];

export interface GeminiServer extends FakeUpstream {
  /** Why calls were refused. */
  refusals: string[];
}

/**
 * Gemini as far as a conversation needs it: the turn that follows depends on how many turns of its
 * own the prompt holds. As the service does, it refuses a prompt that leaves out the signature of a
 * call which it signed, a call without a result, or a result without its name.
 */
export async function startGemini(
  written: readonly Turn[] | ((asked: GeminiBody) => readonly Turn[]),
): Promise<GeminiServer> {
  const refusals: string[] = [];
  const server = await startUpstream(async (received, response) => {
    const asked = received.json as GeminiBody;
    const { contents } = asked;
    const script = typeof written === 'function' ? written(asked) : written;
    const fault = faultIn(contents, script);
    if (fault === undefined) return play(step(received, script, contents), response);
    refusals.push(fault);
    return refuse(fault, response);
  });
  return Object.assign(server, { refusals });
}

function step({ path }: Received, script: readonly Turn[], contents: GeminiBody['contents']) {
  const parts = script[contents.filter(({ role }) => role === 'model').length] ?? [];
  if (!path.includes(':streamGenerateContent')) {
    const headers = { 'content-type': 'application/json' };
    return { headers, body: JSON.stringify(answer(parts)) };
  }
  const events = parts.map((part, at) => {
    if (at === parts.length - 1) return answer([part]);
    return { candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] };
  });
  return { headers: { 'content-type': 'text/event-stream' }, body: framed(events) };
}

async function refuse(message: string, response: ServerResponse): Promise<void> {
  const error = { code: 400, message, status: 'INVALID_ARGUMENT' };
  const headers = { 'content-type': 'application/json' };
  await play({ status: 400, headers, body: JSON.stringify({ error }) }, response);
}

function faultIn(contents: GeminiBody['contents'], script: readonly Turn[]): string | undefined {
  const texts = contents.flatMap(({ parts }) => parts.map((part) => part.thoughtSignature));
  const turns = contents.filter(({ role }) => role === 'model').length;
  const signedTexts = script
    .slice(0, turns)
    .flat()
    .filter((part) => !part.functionCall);
  if (signedTexts.some(({ thoughtSignature: own }) => own && !texts.includes(own))) {
    return 'A text is missing its thought_signature.';
  }
  const signed = script.flat().filter((part) => part.functionCall && part.thoughtSignature);
  for (const [at, { role, parts }] of contents.entries()) {
    if (role === contents[at - 1]?.role) return `Two turns of ${role} follow each other.`;
    const calls = parts.flatMap((part) => (part.functionCall ?? []) as Called);
    const next = contents[at + 1]?.parts ?? [];
    const results = next.flatMap((part) => (part.functionResponse ?? []) as Called);
    if (calls.map(nameOf).join() !== results.map(nameOf).join()) {
      return 'The number of function response parts must equal that of function call parts.';
    }
    for (const part of parts) {
      const was = signed.find(({ functionCall }) => {
        return nameOf(functionCall as Called) === nameOf((part.functionCall ?? {}) as Called);
      });
      if (was && part.thoughtSignature !== was.thoughtSignature) {
        return 'Function call is missing a thought_signature in functionCall parts.';
      }
    }
  }
  return undefined;
}

function nameOf({ name }: Called): string {
  return name ?? '';
}
