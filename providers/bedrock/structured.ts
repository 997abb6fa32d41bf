import { jsonOutput, type JsonOutput } from '../anthropic/output.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord } from '../../src/lib/objects.js';
import type { Block } from './content.js';
import { fieldsOf, type RequestFields } from './fields.js';
import { targetOf, type Target } from './model.js';

/** How the model is made to answer in JSON; undefined where the answer may be any text. */
export function outputOf(
  call: ChatCall,
  fields: RequestFields,
  { model }: Target,
): JsonOutput | undefined {
  return jsonOutput({ ...call, fields }, model);
}

/** The tool whose input becomes the text of the answer; undefined if there is none. */
export function outputTool(call: ChatCall, upstream: Upstream): string | undefined {
  if (call.fields.response_format === undefined) return undefined;
  const output = outputOf(call, fieldsOf(call, upstream), targetOf(upstream));
  return output?.by === 'tool' ? output.tool.name : undefined;
}

/** The form of the answer, for a model that holds to one by itself. */
export function outputConfigOf(
  fields: RequestFields,
  output: JsonOutput | undefined,
): Block | undefined {
  if (output?.by !== 'format') return undefined;
  const format = fields.response_format;
  const schema_format = isRecord(format) && isRecord(format.json_schema) ? format.json_schema : {};
  const { name, description } = schema_format;
  const jsonSchema = {
    name: typeof name === 'string' && name !== '' ? name : 'answer',
    ...(typeof description === 'string' && description !== '' && { description }),
    schema: JSON.stringify(output.schema),
  };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}
