import type { Configuration } from '../core/configuration.js';
import type { TracesBlock } from '../schema-types/gateway.js';
import type { Source } from '../yaml/source.js';
import { readUrl } from '../yaml/urls.js';
import type { PartialLoad } from '../yaml/validate.js';
import { checkHeaders } from './headers.js';

/** Reads `traces:`. The operator chooses the collector, so its address may be private. */
export function readTraces(
  source: Source,
  block: PartialLoad<TracesBlock> | undefined,
): Configuration['traces'] {
  if (block?.otlp === undefined) return undefined;
  const url = readUrl(source, '/traces/otlp', block.otlp);
  const headers = checkHeaders(source, '/traces/headers', block.headers ?? {});
  return url === undefined ? undefined : { url, headers, sample: block.sample ?? 1 };
}
