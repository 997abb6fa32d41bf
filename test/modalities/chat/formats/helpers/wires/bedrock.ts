import { eventFrame } from '../../../../../helpers/aws-frames.js';
import {
  at,
  COMPLETION_TOKENS,
  halves,
  listAt,
  PROMPT_TOKENS,
  textAt,
  TOKENS,
} from '../conversation-parts.js';
import { json, KEY, nameOf, SIGNATURE, type WireFake } from './wire-fake.js';

export const bedrock: WireFake = {
  uses: 'bedrock',
  provider: `${KEY}, region: eu-central-1`,
  model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  read: ({ json: body }) => {
    const blocks = listAt(body, 'messages').flatMap((turn) => listAt(turn, 'content'));
    const of = (name: string): unknown[] => blocks.flatMap((block) => at(block, name) ?? []);
    const calls = of('toolUse').map((use) => ({
      id: at(use, 'toolUseId'),
      name: textAt(use, 'name'),
      args: at(use, 'input'),
    }));
    return {
      system: textAt(body, 'system'),
      text: of('text').join(''),
      images: of('image').map((image) => textAt(image, 'source', 'bytes')),
      tools: listAt(body, 'toolConfig', 'tools').map((tool) => ({
        name: at(tool, 'toolSpec', 'name'),
        description: at(tool, 'toolSpec', 'description'),
        parameters: at(tool, 'toolSpec', 'inputSchema', 'json'),
      })),
      mustCall: at(body, 'toolConfig', 'toolChoice', 'any') !== undefined,
      calls: calls.map(({ name, args }) => ({ name, args })),
      results: of('toolResult').map((result) => ({
        name: nameOf(calls, at(result, 'toolUseId')),
        text: textAt(result, 'content'),
      })),
      thinks: at(body, 'additionalModelRequestFields', 'thinking', 'type') === 'enabled',
      state: at(of('reasoningContent')[0], 'reasoningText', 'signature'),
    };
  },
  answer: ({ thought, text, calls = [] }, { path }) => {
    const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn';
    const usage = {
      inputTokens: TOKENS.fresh,
      cacheReadInputTokens: TOKENS.cached,
      outputTokens: COMPLETION_TOKENS,
      totalTokens: PROMPT_TOKENS + COMPLETION_TOKENS,
    };
    const reasoningText = { text: thought, signature: SIGNATURE };
    const content = [
      ...(thought ? [{ reasoningContent: { reasoningText } }] : []),
      ...(text ? [{ text }] : []),
      ...calls.map(({ name, args: input }, index) => {
        return { toolUse: { toolUseId: `tooluse_${index}`, name, input } };
      }),
    ];
    if (!path.endsWith('/converse-stream')) {
      return json({ output: { message: { role: 'assistant', content } }, stopReason, usage });
    }
    const frames = content.flatMap((block, contentBlockIndex) => {
      const delta = (said: object): Buffer =>
        eventFrame('contentBlockDelta', { contentBlockIndex, delta: said });
      if ('text' in block) return halves(String(block.text)).map((half) => delta({ text: half }));
      if ('reasoningContent' in block) {
        const { signature } = reasoningText;
        return [
          ...halves(String(thought)).map((half) => delta({ reasoningContent: { text: half } })),
          delta({ reasoningContent: { signature } }),
        ];
      }
      const { input, ...toolUse } = block.toolUse;
      return [
        eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse } }),
        ...halves(JSON.stringify(input)).map((half) => delta({ toolUse: { input: half } })),
        eventFrame('contentBlockStop', { contentBlockIndex }),
      ];
    });
    return {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      chunks: [
        ...frames,
        eventFrame('messageStop', { stopReason }),
        eventFrame('metadata', { usage }),
      ],
    };
  },
};
