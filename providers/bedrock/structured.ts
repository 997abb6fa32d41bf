import { isRecord } from '../../src/lib/is-record.js';
import type { Block } from './content.js';
import type { Fields } from './fields.js';
import { takesSchemas, type ModelKind } from './model.js';

/** The tool whose input is the answer, for models that hold their answers to no schema. */
export const JSON_TOOL = 'answer_in_json';

const JSON_OBJECT = 'Answer with one valid JSON object and nothing else.';

interface Schema {
  name: string;
  description?: string;
  schema: Record<string, unknown>;
}

function schemaOf(fields: Fields): Schema | undefined {
  const format = fields['response_format'];
  const said = isRecord(format) && format['type'] === 'json_schema' ? format['json_schema'] : {};
  if (!isRecord(said) || !isRecord(said['schema'])) return undefined;
  const { name, description, schema } = said;
  return {
    name: typeof name === 'string' && name !== '' ? name : 'answer',
    ...(typeof description === 'string' && description !== '' && { description }),
    schema,
  };
}

/** The form of the answer, for models that hold to one. Undefined where none is asked for. */
export function outputConfigOf(fields: Fields, kind: ModelKind): Block | undefined {
  const asked = schemaOf(fields);
  if (!asked || !takesSchemas(kind)) return undefined;
  const jsonSchema = { ...asked, schema: JSON.stringify(asked.schema) };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

/**
 * The tool that other models must answer by. Undefined where no schema is asked for, and where the
 * client says which tool to call: then that call is the answer.
 */
export function answerTool(fields: Fields, kind: ModelKind): Block | undefined {
  const asked = schemaOf(fields);
  if (!asked || takesSchemas(kind) || isRecord(fields['tool_choice'])) return undefined;
  const { description = 'Gives the answer in the form that is asked for.', schema } = asked;
  return { toolSpec: { name: JSON_TOOL, description, inputSchema: { json: schema } } };
}

/** What the system prompt says besides, where JSON is asked for without a schema. */
export function jsonInstruction(fields: Fields): Block[] {
  const format = fields['response_format'];
  return isRecord(format) && format['type'] === 'json_object' ? [{ text: JSON_OBJECT }] : [];
}
