import { jsonInstruction } from '../anthropic/output.js';
import { isRecord } from '../../src/lib/objects.js';
import { listIn, objectIn, type GeminiObject } from '../gemini-wire.js';
import { isGemini3 } from './model-family.js';

/**
 * Turns the demand for JSON into an instruction, in place, for models that refuse it beside
 * functions: those before Gemini 3.
 */
export function writeJsonWithTools(body: GeminiObject, model: string): void {
  const config = objectIn(body, 'generationConfig');
  const { responseMimeType, responseJsonSchema: schema, ...rest } = config;
  const hasFunctions = listIn(body, 'tools').some((tool) => 'functionDeclarations' in tool);
  if (isGemini3(model) || !hasFunctions || responseMimeType === undefined) return;
  const text = jsonInstruction(isRecord(schema) ? schema : undefined);
  const parts = [...listIn(objectIn(body, 'systemInstruction'), 'parts'), { text }];
  Object.assign(body, { generationConfig: rest, systemInstruction: { parts } });
}
