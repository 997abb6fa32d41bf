import type { IncomingMessage } from 'node:http';
import { modelNamed, type EndpointEntry } from '../core/configuration.js';
import { mayUseModel, type Model } from '../core/model.js';
import { longWorkTurns } from '../lib/event-loop-turns.js';
import { isRecord } from '../lib/objects.js';
import { OptionError } from '../core/errors.js';
import { largestBody } from '../http/memory-budget.js';
import { LARGE_BYTES } from '../lib/json-text.js';
import { isMultipart, readMultipartBody, compileFormSchema } from '../http/read-multipart.js';
import { readJsonBody, type ParsedBody } from '../http/request-body.js';
import { compileOwnSchema, compileShippedSchema, type Check } from '../http/body-schema.js';
import { admission } from '../pipeline/admission.js';
import { type Modalities, formatsOf, type RequestFormat } from '../pipeline/modality.js';
import { withMissingCapability } from '../pipeline/missing-capability.js';
import {
  formatOption,
  paramsOf,
  requestMemoryOf,
  sealedRequest,
  type PathParams,
  type Shape,
  type Stage,
  type State,
} from '../pipeline/stage.js';
import type { Services } from '../pipeline/services.js';

/**
 * Reads the JSON body, or a form if the format takes one, and checks it against the schema of the
 * format. The option is the name of a shipped schema, or the path of the operator's own, which is
 * checked in addition to the shipped one.
 */
export function validate(modalities: Modalities): Stage {
  const formats = formatsOf(modalities);
  const names = formats.map(({ name }) => name);
  const formatName = (option: unknown, endpoint: EndpointEntry): string => {
    const shipped = names.find((name) => name === option);
    if (shipped !== undefined) return shipped;
    if (!isPath(option)) throw unknownSchema(option, endpoint, modalities);
    const format = operationFormat(endpoint, modalities);
    if (format) return format.name;
    throw new OptionError('its endpoint has no operation that takes a body');
  };
  return {
    name: 'validate',
    shape: (option, endpoint) => {
      const format = formatName(option, endpoint);
      const shape: Shape = { needs: [], gives: [`request:${format}`], records: true, format };
      if (!isPath(option)) return shape;
      compileOwnSchema(option, endpoint.main);
      return { ...shape, own_schema: option };
    },
    create: (option, services, endpoint) => {
      const format = formatName(option, endpoint);
      const found = formats.find(({ name }) => name === format);
      const repair = found?.repair?.bind(found);
      const normalize = found?.normalize?.bind(found);
      const modelOf = modelReader(found);
      const form = found?.form;
      const formCheck = form ? compileFormSchema(format) : undefined;
      const checks = [compileShippedSchema(format)];
      if (isPath(option)) checks.push(compileOwnSchema(option, endpoint.main));
      // A schema of the operator's own may read any text.
      const findMoved = isPath(option) ? undefined : found?.findMoved;
      const { limits } = services.configuration;
      const { body_values: values, body_stall_ms: stall_ms } = limits;
      const limit_bytes = largestBody(limits);
      const admits = admission(services);
      return async (ctx, next) => {
        const { state } = ctx;
        const memory = requestMemoryOf(state, services);
        const admit = (): Promise<void> => admits(state);
        const terms = { limit_bytes, values, stall_ms, memory, admit };
        const isForm = formCheck !== undefined && isMultipart(ctx.req);
        const read: ParsedBody = isForm
          ? { body: await readMultipartBody(ctx.req, terms) }
          : await readJsonBody(ctx.req, terms, findMoved);
        const { body, texts } = read;
        if (isForm) formCheck(body);
        normalize?.(body);
        try {
          checkBody(checks, body, repair);
          // What follows takes as long as the check did, so other requests get a turn first.
          if (memory.bytes > LARGE_BYTES) await longWorkTurns.next();
        } catch (error) {
          const model = modelOf(body, paramsOf(ctx), state, services);
          throw withMissingCapability(error, found, body, model);
        }
        // Every schema of a format accepts objects only.
        const headers = headersOf(ctx.req, found);
        state.request = texts
          ? sealedRequest(format, body as object, headers, texts)
          : { format, body: body as object, headers };
        await next();
      };
    },
  };
}

/** Reads the model of a body that may break its schema; undefined if its caller may not use it. */
function modelReader(format: RequestFormat | undefined) {
  return (
    body: unknown,
    params: PathParams,
    { caller }: State,
    { configuration }: Services,
  ): Model | undefined => {
    const id: unknown = isRecord(body) ? format?.modelOf(body, params) : undefined;
    const model = typeof id === 'string' ? modelNamed(configuration, id) : undefined;
    return model && mayUseModel(caller?.models, model) ? model : undefined;
  };
}

/** The format that the operation of an endpoint reads. */
function operationFormat(
  { stages }: EndpointEntry,
  modalities: Modalities,
): RequestFormat | undefined {
  const operations = [...modalities.values()].flatMap((modality) => modality.operations);
  const run = operations.find(({ name }) => stages.some(({ option }) => option === name));
  return formatsOf(modalities).find(({ name }) => name === run?.format);
}

/** The fault of an option that names no schema, with the one that fits the endpoint. */
function unknownSchema(
  option: unknown,
  endpoint: EndpointEntry,
  modalities: Modalities,
): OptionError {
  const formats = formatsOf(modalities);
  const address = `${endpoint.method} ${endpoint.path}`;
  const usual =
    formats.find((format) => format.endpoint.at === address) ??
    operationFormat(endpoint, modalities);
  if (option === undefined && usual) {
    return new OptionError(`it needs the schema of a body: write validate: ${usual.name}`);
  }
  const message = `${formatOption(option)} is neither a schema nor a path that begins with "./"`;
  // The name of a modality stands for a schema of its own.
  const own = modalities.has(String(option)) ? usual : undefined;
  return new OptionError(message, own ? [own.name] : formats.map(({ name }) => name));
}

/** The headers that a format reads. */
function headersOf(
  { headers }: IncomingMessage,
  format: RequestFormat | undefined,
): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name of format?.headers ?? []) {
    const value = headers[name];
    if (typeof value === 'string') read[name] = value;
  }
  return read;
}

/** Throws `GatewayError` if the body breaks a schema and cannot be repaired. */
export function checkBody(
  checks: readonly Check[],
  body: unknown,
  repair: RequestFormat['repair'],
): void {
  try {
    for (const check of checks) check(body);
  } catch (error) {
    if (!repair?.(body)) throw error;
    for (const check of checks) check(body);
  }
}

function isPath(option: unknown): option is string {
  return typeof option === 'string' && option.startsWith('.');
}
