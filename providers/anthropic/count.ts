import type { ChatCall, PromptParts } from '../../src/modalities/chat/codec.js';
import { isRecord } from '../../src/lib/objects.js';
import { squaresOf, type PictureSize } from '../../src/lib/picture-size.js';
import type { Upstream } from '../../src/core/model.js';
import { claudeModel, isClaude, type Counting } from './models.js';

/** Around a prompt, and around each message behind the first one. */
const BASE = 8;
const MESSAGE = 3;
/** For a token of a tool or a schema, which is written in another form. */
const TOOL_TEXT = 1.1;
/** What the API writes into a prompt for structured output, and for thinking. */
const SCHEMA = 100;
const THINKING = 28;
/** An image has one token for each square of so many pixels a side. */
const SQUARE = 28;
/** An image that only its URL names is taken to be as large as most are. */
const USUAL_IMAGE = 1_568;

/**
 * An estimate of the tokens of a prompt, apart from its files; undefined for the models of other
 * makers.
 */
export function estimateTokens(
  parts: PromptParts,
  { fields }: ChatCall,
  { model }: Upstream,
): number | undefined {
  if (!isClaude(model)) return undefined;
  const { counting, schemas } = claudeModel(model);
  const { text_tokens, tool_tokens, schema_tokens, messages, images, image_most } = parts;
  const written = TOOL_TEXT * counting.text;
  const images_sum = images.reduce(
    (sum, size) => sum + Math.min(image_most, imageTokens(size, counting)),
    0,
  );
  return Math.ceil(
    BASE +
      MESSAGE * Math.max(0, messages - 1) +
      counting.text * text_tokens +
      (tool_tokens > 0 ? counting.tools + written * tool_tokens : 0) +
      (schema_tokens > 0 && schemas ? SCHEMA + written * schema_tokens : 0) +
      (isThinking(fields) ? THINKING : 0) +
      images_sum,
  );
}

function isThinking({ thinking, reasoning_effort }: ChatCall['fields']): boolean {
  if (isRecord(thinking)) return thinking.type === 'enabled' || thinking.type === 'adaptive';
  return typeof reasoning_effort === 'string' && reasoning_effort !== 'none';
}

function imageTokens(size: PictureSize | undefined, { image_edge, image_most }: Counting): number {
  if (!size) return USUAL_IMAGE;
  const { width, height } = size;
  const scale = Math.min(1, image_edge / Math.max(width, height));
  const scaled = { width: width * scale, height: height * scale };
  return Math.min(image_most, squaresOf(scaled, SQUARE));
}
