import type { EndpointEntry } from '../core/configuration.js';
import { OPERATIONS } from '../modalities/operations.js';
import { inWords } from '../pipeline/option.js';
import { roomOf, type Request, type Services, type Stage } from '../pipeline/stage.js';
import { readJsonBody } from '../http/read-body.js';
import { COPIES, shareOf } from '../http/memory-budget.js';
import {
  compileOwnSchema,
  compileShippedSchema,
  REQUEST_SCHEMAS,
  type RequestSchema,
} from '../http/validate-body.js';
import { admission } from '../http/admission.js';
import { OptionError } from '../core/option-error.js';

/**
 * The JSON body, checked against a schema: a shipped one by name, or the operator's own by path,
 * which then holds beside the shipped one of the endpoint's operation.
 */
export const validate: Stage = {
  name: 'validate',
  shape: (option, endpoint) => {
    const schema = schemaOf(option, endpoint);
    if (isPath(option)) compileOwnSchema(option, endpoint.place.file);
    return { needs: [], gives: [`request:${schema}`] };
  },
  create: (option, services, endpoint) => {
    const { configuration } = services;
    const schema = schemaOf(option, endpoint);
    const checks = [compileShippedSchema(schema)];
    if (isPath(option)) checks.push(compileOwnSchema(option, endpoint.place.file));
    const { body_values: values, body_stall_ms: stall_ms } = configuration.limits;
    const limit_bytes = mostBytes(configuration.limits);
    const admits = admission(services);
    return async (ctx, next) => {
      const room = roomOf(ctx, services);
      const admit = (): Promise<void> => admits(ctx);
      const body = await readJsonBody(ctx.req, { limit_bytes, values, stall_ms, room, admit });
      for (const check of checks) check(body);
      ctx.state.request = { schema, body } as Request;
      await next();
    };
  },
};

/** One that the account's share of memory has no room for at all is too large. */
function mostBytes(limits: Services['configuration']['limits']): number {
  return Math.min(limits.body_bytes, Math.floor(shareOf(limits.in_flight_bytes) / COPIES));
}

function isPath(option: unknown): option is string {
  return typeof option === 'string' && option.startsWith('.');
}

function schemaOf(option: unknown, endpoint: EndpointEntry): RequestSchema {
  const shipped = REQUEST_SCHEMAS.find((name) => name === option);
  if (shipped) return shipped;
  const message = `${inWords(option)} is neither a schema nor a path that begins with "./"`;
  if (!isPath(option)) throw new OptionError(message, REQUEST_SCHEMAS);
  const operation = endpoint.stages.find(({ name }) => name === 'transform')?.option;
  const schema = typeof operation === 'string' ? OPERATIONS[operation]?.schema : undefined;
  if (!schema) throw new OptionError('its endpoint has no operation that takes a body');
  return schema;
}
