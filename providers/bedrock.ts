import type { ChatCodec } from '../src/modalities/chat/codec.js';
import { decode } from './bedrock/answer.js';
import { openFrames } from './bedrock/frames.js';
import { encode } from './bedrock/request.js';
import { decodeStream } from './bedrock/stream.js';

/** Amazon Bedrock by its operations Converse and ConverseStream, for every model that it serves. */
export const chat: ChatCodec = { encode, decode, decodeStream, openFrames };

/** The wire flags that this codec reads, which are those of Claude's own wire. */
export { wire_flags } from './anthropic/codec.js';

/** Signs what is sent, where the provider has AWS keys instead of a Bedrock API key. */
export { sign } from './bedrock/sign.js';
