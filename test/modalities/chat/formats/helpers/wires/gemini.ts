import { sse } from '../../../../../helpers/upstream.js';
import {
  at,
  COMPLETION_TOKENS,
  halves,
  listAt,
  PROMPT_TOKENS,
  textAt,
  TOKENS,
} from '../conversation-parts.js';
import { json, KEY, SIGNATURE, type WireFake } from './wire-fake.js';

export const gemini: WireFake = {
  uses: 'gemini',
  provider: KEY,
  model: 'gemini-2.5-flash',
  read: ({ json: body }) => {
    const parts = listAt(body, 'contents').flatMap((content) => listAt(content, 'parts'));
    const called = parts.filter((part) => at(part, 'functionCall') !== undefined);
    const calls = called.map((part) => ({
      name: textAt(part, 'functionCall', 'name'),
      args: at(part, 'functionCall', 'args'),
    }));
    return {
      system: textAt(body, 'systemInstruction', 'parts'),
      text: textAt({ parts }, 'parts'),
      images: parts.flatMap((part) => textAt(part, 'inlineData', 'data') || []),
      tools: listAt(body, 'tools')
        .flatMap((tool) => listAt(tool, 'functionDeclarations'))
        .map((tool) => ({
          name: at(tool, 'name'),
          description: at(tool, 'description'),
          parameters: at(tool, 'parametersJsonSchema'),
        })),
      mustCall: at(body, 'toolConfig', 'functionCallingConfig', 'mode') === 'ANY',
      calls,
      results: parts.flatMap((part) => {
        const result = at(part, 'functionResponse');
        return result ? [{ name: textAt(result, 'name'), text: JSON.stringify(result) }] : [];
      }),
      thinks: at(body, 'generationConfig', 'thinkingConfig', 'includeThoughts') === true,
      state: at(called[0], 'thoughtSignature'),
    };
  },
  answer: ({ thought, text, calls = [] }, { path }) => {
    const parts = [
      ...(thought ? [{ text: thought, thought: true }] : []),
      ...(text ? halves(text).map((half) => ({ text: half })) : []),
      ...calls.map((functionCall, at_call) => ({
        functionCall,
        ...(thought && at_call === 0 && { thoughtSignature: SIGNATURE }),
      })),
    ];
    const end = {
      finishReason: 'STOP',
      usageMetadata: {
        promptTokenCount: PROMPT_TOKENS,
        cachedContentTokenCount: TOKENS.cached,
        candidatesTokenCount: TOKENS.spoken,
        thoughtsTokenCount: TOKENS.thoughts,
        totalTokenCount: PROMPT_TOKENS + COMPLETION_TOKENS,
      },
    };
    const answer = (some: readonly object[], isLast: boolean): object => ({
      candidates: [
        {
          content: { role: 'model', parts: some },
          index: 0,
          ...(isLast && { finishReason: end.finishReason }),
        },
      ],
      ...(isLast && { usageMetadata: end.usageMetadata }),
    });
    if (!path.includes(':streamGenerateContent')) return json(answer(parts, true));
    return sse(parts.map((part, index) => answer([part], index === parts.length - 1)));
  },
};
