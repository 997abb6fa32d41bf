import { ACTIONS } from '../../actions/index.js';
import { isRecord } from '../../lib/objects.js';
import { ERRORS } from '../../core/errors.js';
import { readShippedSchema } from '../../lib/schemas.js';
import { MODALITIES } from '../../modalities/index.js';

export type Json = Record<string, unknown>;

const ANSWERS = 'management-answers';

/** The files in `schemas/` that belong to no modality. */
const BODIES = ACTIONS.flatMap(({ schema, routes = [] }) =>
  schema && routes.some(({ method }) => method !== 'GET') ? [schema] : [],
);
const FILES = [...BODIES, 'error', 'model-list'];

/** The file of each schema in the document. There, a schema is called by its title. */
function schemaFiles(): string[] {
  const modalities = [...MODALITIES.values()];
  const formats = modalities.flatMap((modality) => modality.formats);
  const operations = modalities.flatMap((modality) => modality.operations);
  const answers = [...formats, ...operations].flatMap(({ description }) =>
    Object.values(description?.content ?? {}),
  );
  const named = answers.filter((name) => name !== 'bytes').map((name) => name.split('#')[0] ?? '');
  const lists = formats.flatMap(({ models }) => (models ? [models.schema] : []));
  return [...new Set([...FILES, ...formats.map(({ name }) => name), ...named, ...lists])].sort();
}

/** All schemas by name: one for each file, and one for each answer. */
export function componentSchemas(): Json {
  const schemas: Json = {};
  for (const file of schemaFiles()) {
    const { $schema: _version, $id: _id, ...schema } = readShippedSchema(file);
    const name = String(schema.title);
    schemas[name] = pointingTo(`#/components/schemas/${name}/$defs/`, schema);
  }
  const answers = readShippedSchema(ANSWERS).$defs as Json;
  Object.assign(schemas, pointingTo('#/components/schemas/', answers));
  return schemas;
}

/** A reference to the schema of a file, `NAME`, or to one inside it, `NAME#/$defs/INNER`. */
export function schemaOf(file: string): Json {
  const [name = '', inner = ''] = file.split('#');
  return { $ref: `#/components/schemas/${String(readShippedSchema(name).title)}${inner}` };
}

/** A reference to an answer of the management API. */
export function answerOf(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas of errors: the common one, and those of formats that have their own. */
const COMMON_ERROR = 'error';
const ERROR_SCHEMAS = [
  COMMON_ERROR,
  ...new Set(
    [...MODALITIES.values()]
      .flatMap(({ formats, operations }) => [
        ...formats,
        ...operations.flatMap(({ description }) => description ?? []),
      ])
      .flatMap(({ error_schema }) => error_schema ?? []),
  ),
];

/** The name of a response: `Error400`, or `MessagesError400` for the error of a format. */
function responseName(schema: string, status: number): string {
  const [file = ''] = schema.split('#');
  const title = String(readShippedSchema(file).title);
  return `${schema === COMMON_ERROR ? '' : title.replace(/Body$/u, '')}Error${status}`;
}

/** One response for each status and each shape of an error, with the codes that it can have. */
export function errorResponses(): Json {
  const byStatus = new Map<number, { code: string; type: string }[]>();
  for (const [code, { status, type }] of Object.entries(ERRORS)) {
    byStatus.set(status, [...(byStatus.get(status) ?? []), { code, type }]);
  }
  const responses: Json = {};
  for (const [status, errors] of byStatus) {
    const description = errors.map(({ code }) => `\`${code}\``).join(', ');
    const error = Object.assign({ message: 'In a sentence, what is wrong.' }, errors[0]);
    const example = { error: Object.assign(error, { param: null }) };
    for (const name of ERROR_SCHEMAS) {
      const content = { schema: schemaOf(name), ...(name === COMMON_ERROR && { example }) };
      responses[responseName(name, status)] = {
        description,
        content: { 'application/json': content },
      };
    }
  }
  return responses;
}

/**
 * References to the responses of these statuses, each once and in order. `schema` is that of the
 * errors.
 */
export function errorsOf(statuses: readonly number[], schema = COMMON_ERROR): Json {
  const each = [...new Set(statuses)].toSorted((a, b) => a - b);
  return Object.fromEntries(
    each.map((status) => [
      String(status),
      { $ref: `#/components/responses/${responseName(schema, status)}` },
    ]),
  );
}

export function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

/** The parameters of a query, by the name of its schema. */
export function queryParameters(query: string | undefined): Json[] {
  if (query === undefined) return [];
  const properties = readShippedSchema(query).properties as Record<string, Json>;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
}

/** A copy whose references point to the place of its definitions in the document. */
function pointingTo<T>(base: string, value: T): T {
  return rewritten(value) as T;

  function target(ref: string): unknown {
    return ref.startsWith('#') ? ref.replace('#/$defs/', base) : schemaOf(ref).$ref;
  }

  function rewritten(part: unknown): unknown {
    if (Array.isArray(part)) return part.map(rewritten);
    if (!isRecord(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, inner]) => [
        key,
        key === '$ref' ? target(String(inner)) : rewritten(inner),
      ]),
    );
  }
}
