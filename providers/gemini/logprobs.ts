import { listIn, objectIn, type GeminiObject } from '../gemini-wire.js';

/** The log probabilities of a candidate's tokens in the words of the OpenAI wire. */
export function logprobsIn(candidate: GeminiObject): { content: GeminiObject[] } | undefined {
  const result = objectIn(candidate, 'logprobsResult');
  const chosen = listIn(result, 'chosenCandidates');
  if (chosen.length === 0) return undefined;
  const tops = listIn(result, 'topCandidates');
  return {
    content: chosen.map((token, at) => ({
      ...tokenOf(token),
      top_logprobs: listIn(tops[at] ?? {}, 'candidates').map(tokenOf),
    })),
  };
}

function tokenOf({ token, logProbability }: GeminiObject): GeminiObject {
  const text = typeof token === 'string' ? token : '';
  const logprob = typeof logProbability === 'number' ? logProbability : 0;
  return { token: text, logprob, bytes: [...Buffer.from(text)] };
}
