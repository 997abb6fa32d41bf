import { parseJson } from '../../../lib/json-text.js';
import { isRecord } from '../../../lib/objects.js';

/** The type of an answer that is one of the values of a schema, as a text without quotes. */
export const ENUM = 'text/x.enum';
const FIELD = 'value';

/** The schema of an object with the value, as most upstreams answer with objects only. */
export function enumSchema(schema: object): object {
  const properties = { [FIELD]: schema };
  return { type: 'object', properties, required: [FIELD], additionalProperties: false };
}

/** The value in an answer; all of the answer if it is no such object. */
export function enumValue(text: string): string {
  const answer = parseJson(text);
  const value = isRecord(answer) ? answer[FIELD] : undefined;
  return typeof value === 'string' ? value : text;
}
