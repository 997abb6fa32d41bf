import { anthropic } from './anthropic.js';
import { bedrock } from './bedrock.js';
import { gemini } from './gemini.js';
import { openai } from './openai.js';
import type { WireFake } from './wire-fake.js';

/** A fake of each wire; two clouds serve the wire of another in their own way. */
export const WIRE_FAKES: Readonly<Record<string, WireFake>> = {
  openai,
  azure: { ...openai, uses: 'azure' },
  anthropic,
  vertex: { ...anthropic, uses: 'vertex', model: 'claude-sonnet-4-5@20250929' },
  gemini,
  bedrock,
};
