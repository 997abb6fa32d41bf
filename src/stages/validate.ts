import type { EndpointEntry } from '../core/configuration.js';
import { OptionError } from '../core/option-error.js';
import { COPIES, shareOf } from '../http/memory-budget.js';
import { readJsonBody } from '../http/read-body.js';
import { compileOwnSchema, compileShippedSchema, type Check } from '../http/validate-body.js';
import { admission } from '../pipeline/admission.js';
import type { Modalities, RequestFormat } from '../pipeline/modality.js';
import { formatOption } from '../pipeline/option.js';
import type { Services } from '../pipeline/services.js';
import { roomOf, type Stage } from '../pipeline/stage.js';

/**
 * Reads the JSON body and checks it against a format's schema: a shipped one by name, or the
 * operator's own by path, which then holds beside the shipped one of the endpoint's operation.
 */
export function validate(modalities: Modalities): Stage {
  const formats = [...modalities.values()].flatMap((modality) => modality.formats);
  const names = formats.map(({ name }) => name);
  const formatOf = (option: unknown, endpoint: EndpointEntry): string => {
    const shipped = names.find((name) => name === option);
    if (shipped !== undefined) return shipped;
    const message = `${formatOption(option)} is neither a schema nor a path that begins with "./"`;
    if (!isPath(option)) throw new OptionError(message, names);
    return formatOfOperation(modalities, endpoint);
  };
  return {
    name: 'validate',
    shape: (option, endpoint) => {
      const format = formatOf(option, endpoint);
      if (isPath(option)) compileOwnSchema(option, endpoint.place.file);
      return { needs: [], gives: [`request:${format}`] };
    },
    create: (option, services, endpoint) => {
      const format = formatOf(option, endpoint);
      const mend = formats.find(({ name }) => name === format)?.mend;
      const checks = [compileShippedSchema(format)];
      if (isPath(option)) checks.push(compileOwnSchema(option, endpoint.place.file));
      const { limits } = services.configuration;
      const { body_values: values, body_stall_ms: stall_ms } = limits;
      const limit_bytes = maxBytes(limits);
      const admits = admission(services);
      return async (ctx, next) => {
        const { state } = ctx;
        const room = roomOf(state, services);
        const admit = (): Promise<void> => admits(state);
        const body = await readJsonBody(ctx.req, { limit_bytes, values, stall_ms, room, admit });
        holdTo(checks, body, mend);
        // The schemas vouch for this: each of them takes objects only.
        state.request = { format, body: body as object };
        await next();
      };
    },
  };
}

/** Throws `GatewayError` for a body that breaks a schema, also after it was mended, if it can be. */
function holdTo(checks: readonly Check[], body: unknown, mend: RequestFormat['mend']): void {
  try {
    for (const check of checks) check(body);
  } catch (error) {
    if (!mend?.(body)) throw error;
    for (const check of checks) check(body);
  }
}

/** One that the account's share of memory has no room for at all is too large. */
function maxBytes(limits: Services['configuration']['limits']): number {
  return Math.min(limits.body_bytes, Math.floor(shareOf(limits.in_flight_bytes) / COPIES));
}

function isPath(option: unknown): option is string {
  return typeof option === 'string' && option.startsWith('.');
}

function formatOfOperation(modalities: Modalities, endpoint: EndpointEntry): string {
  const word = endpoint.stages.find(({ name }) => name === 'transform')?.option;
  for (const { operations } of modalities.values()) {
    const format = operations.find(({ name }) => name === word)?.format;
    if (format !== undefined) return format;
  }
  throw new OptionError('its endpoint has no operation that takes a body');
}
