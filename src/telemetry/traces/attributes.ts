import type { Attributes } from '@opentelemetry/api';
import type { Configuration } from '../../core/configuration.js';
import { isRecord } from '../../lib/objects.js';
import { flagsOf, type RequestRecord, type UpstreamAttempt } from '../../core/request-record.js';
import type { EndedRequest } from '../record-sink.js';

const NANO = 1e9;

/** The GenAI conventions' names of operations that differ from the name of the capability. */
const OPERATIONS: Readonly<Record<string, string>> = { embedding: 'embeddings' };

/** The operation of each endpoint by its name: `chat`, `embeddings`, `image`. */
export function operationsOf({ endpoints }: Configuration): Map<string, string> {
  return new Map(
    endpoints.map(({ name, stages }) => {
      const options = stages.map(({ option }) => option).filter(isRecord);
      const route = options.find((option) => option.capability !== undefined);
      const routed = route?.capability;
      const capability = typeof routed === 'string' ? routed : name;
      return [name, OPERATIONS[capability] ?? capability];
    }),
  );
}

/** The attributes of a request's span. None holds text of a client or of a model. */
export function requestAttributes(
  record: RequestRecord,
  operation: string,
  provider: string | undefined,
  { state }: EndedRequest,
): Attributes {
  const hold_nano = state.hold?.amount_nano;
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': record.model ?? undefined,
    'gen_ai.response.model': (record.code === null && record.upstream_model) || undefined,
    ...usage(record),
    'http.response.status_code': record.status,
    'error.type': record.code ?? undefined,
    'tollgate.request_id': record.id,
    'tollgate.endpoint': record.endpoint,
    'tollgate.account': record.account_id,
    'tollgate.key': record.key_id,
    'tollgate.streamed': record.streamed,
    'tollgate.flags': flagsOf(record),
    'tollgate.time_to_first_token_ms': record.first_token_ms ?? undefined,
    'tollgate.overhead_ms': record.own_ms,
    'tollgate.cost_dollars': Number(record.cost_nano) / NANO,
    'tollgate.uncollected_dollars': Number(record.uncollected_nano) / NANO,
    'tollgate.hold_dollars': hold_nano == null ? undefined : Number(hold_nano) / NANO,
  };
}

function usage(record: RequestRecord): Attributes {
  const { cache_write_tokens: brief, cache_write_1h_tokens: long } = record;
  const written = brief === null && long === null ? undefined : (brief ?? 0) + (long ?? 0);
  return {
    'gen_ai.usage.input_tokens': record.prompt_tokens ?? undefined,
    'gen_ai.usage.output_tokens': record.completion_tokens ?? undefined,
    'gen_ai.usage.cache_read.input_tokens': record.cached_tokens ?? undefined,
    'gen_ai.usage.cache_creation.input_tokens': written,
  };
}

/** The attributes of the span of a call to an upstream. A call that succeeded has the usage. */
export function attemptAttributes(
  attempt: UpstreamAttempt,
  record: RequestRecord,
  operation: string,
  provider: string | undefined,
): Attributes {
  const { fault, status, codes } = attempt;
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': attempt.model,
    ...(fault === null ? usage(record) : undefined),
    'http.response.status_code': status ?? undefined,
    'error.type': fault ?? undefined,
    'tollgate.provider': attempt.provider,
    'tollgate.upstream_codes': codes ?? undefined,
  };
}
