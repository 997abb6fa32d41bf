import { isRecord } from '../../src/lib/objects.js';
import { jsonInstruction } from '../anthropic/output.js';

/** For upstreams that refuse a schema: asks for any JSON, and a system message has the schema. */
export function writeSchemaAsInstruction(body: Record<string, unknown>): void {
  const { response_format: format, messages } = body;
  if (!isRecord(format) || format.type !== 'json_schema' || !Array.isArray(messages)) return;
  const { json_schema: wanted } = format;
  const schema = isRecord(wanted) && isRecord(wanted.schema) ? wanted.schema : undefined;
  const instruction = { role: 'system', content: jsonInstruction(schema) };
  body.response_format = { type: 'json_object' };
  body.messages = [instruction, ...(messages as readonly unknown[])];
}
