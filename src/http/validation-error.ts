import type { ErrorObject } from 'ajv/dist/2020.js';

/** What is wrong with a body, in one sentence, and the field that is at fault. */
export function explain(errors: readonly ErrorObject[]): { message: string; param: string } {
  // An `if` that failed only repeats what its branch has said.
  const error = errors.find(({ keyword }) => keyword !== 'if') ?? errors[0];
  if (!error) return { message: 'The body is not valid.', param: '' };
  const param = fieldOf(error);
  return { message: `${param === '' ? 'The body' : param} ${complaint(error)}.`, param };
}

/** `/messages/2/content` as clients write it: `messages[2].content`. */
function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const steps = instancePath.split('/').slice(1);
  if (keyword === 'required') steps.push(String(params['missingProperty']));
  if (keyword === 'additionalProperties') steps.push(String(params['additionalProperty']));
  if (keyword === 'discriminator') steps.push(String(params['tag']));
  return steps.map(unescape).reduce(join, '');
}

function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function join(path: string, step: string): string {
  if (/^\d+$/u.test(step)) return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

function complaint({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${[params['type']].flat().map(kind).join(' or ')}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'minimum':
      return `must be at least ${params['limit']}`;
    case 'maximum':
      return `must be at most ${params['limit']}`;
    case 'minItems':
    case 'minLength':
      return 'must not be empty';
    case 'maxItems':
      return `must have at most ${params['limit']} entries`;
    case 'maxLength':
      return `must have at most ${params['limit']} characters`;
    case 'pattern':
      return patternOf(parentSchema) ?? message ?? 'is not valid';
    case 'discriminator':
      return 'must be one of text, image_url, input_audio, file';
    case 'additionalProperties':
      return 'is not known here';
    default:
      return message ?? 'is not valid';
  }
}

/** What the schema says that the text should be, as far as its first semicolon. */
function patternOf(schema: ErrorObject['parentSchema']): string | undefined {
  const description: unknown = schema?.['description'];
  return typeof description === 'string' ? `must be ${description.split(';')[0]}` : undefined;
}

function kind(type: unknown): string {
  return KINDS[String(type)] ?? String(type);
}
