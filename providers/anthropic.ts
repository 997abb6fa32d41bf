import { claudeCodec } from './anthropic/codec.js';

export { wire_flags } from './anthropic/codec.js';

/** Claude at Anthropic itself: the Messages API. */
export const chat = claudeCodec({ pathOf: () => '', envelope: 'anthropic' });
