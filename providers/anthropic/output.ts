import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import type { ClaudeModel } from './models.js';
import { strictSchema } from './schema.js';
import type { Tool } from './wire.js';

/** How a model is made to answer in JSON. */
export type JsonOutput =
  | { by: 'format'; schema: Record<string, unknown> }
  /** A tool that the model must call: its input is the answer. */
  | { by: 'tool'; tool: Tool }
  | { by: 'instruction'; text: string };

const ANY_JSON = 'Answer with one JSON object and nothing else: no Markdown, no text around it.';

/** Instructions to answer with JSON, of a schema if there is one. */
export function jsonInstruction(schema?: object): string {
  if (!schema) return ANY_JSON;
  return `${ANY_JSON} It must satisfy this JSON Schema:\n${JSON.stringify(schema)}`;
}

/**
 * Translates `response_format`; undefined for plain text. The API enforces a schema if the model
 * and the schema allow it. Otherwise a tool with the schema does, unless the client has tools of
 * its own; then the system prompt describes the schema.
 */
export function jsonOutput({ fields }: ChatCall, model: ClaudeModel): JsonOutput | undefined {
  const format = fields.response_format;
  if (!isRecord(format)) return undefined;
  if (format.type === 'json_object') return { by: 'instruction', text: jsonInstruction() };
  const wanted = format.json_schema;
  if (format.type !== 'json_schema' || !isRecord(wanted)) return undefined;
  const { schema, name, description } = wanted;
  if (!isRecord(schema)) return { by: 'instruction', text: jsonInstruction() };
  const held = model.schemas ? strictSchema(schema) : undefined;
  if (held) return { by: 'format', schema: held };
  const isAlone = recordsIn(fields.tools).length === 0;
  if (!isAlone || !model.forced_tools || schema.type !== 'object') {
    return { by: 'instruction', text: jsonInstruction(schema) };
  }
  const tool: Tool = {
    name: typeof name === 'string' && name !== '' ? name : 'json',
    description: typeof description === 'string' ? description : 'Gives the answer.',
    input_schema: { ...schema, type: 'object' },
  };
  return { by: 'tool', tool };
}

/** The tool whose input becomes the text of the answer; undefined if there is none. */
export function outputTool(call: ChatCall, model: ClaudeModel): string | undefined {
  if (call.fields.response_format === undefined) return undefined;
  const output = jsonOutput(call, model);
  return output?.by === 'tool' ? output.tool.name : undefined;
}
