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
  if (url !== undefined) checkCollector(source, url);
  const headers = checkHeaders(source, '/traces/headers', block.headers ?? {});
  return url === undefined ? undefined : { url, headers, sample: block.sample ?? 1 };
}

/** Warns of the port for gRPC, and of a collector's address without the path of its spans. */
function checkCollector(source: Source, url: string): void {
  const { port, pathname } = new URL(url);
  const isShort = /^(?:\/[\w.-]+)*\/(?:otel|otlp|v1)?$/.test(pathname);
  if ((port !== '4317' && !isShort) || source.hides('/traces/otlp')) return;
  const right = new URL(url);
  if (port === '4317') right.port = '4318';
  if (isShort) right.pathname = `${pathname.replace(/\/(?:v1)?$/, '')}/v1/traces`;
  const why = port === '4317' ? 'port 4317 speaks gRPC' : 'collectors take spans at /v1/traces';
  const message = `traces.otlp: ${source.word('/traces/otlp')} takes no spans over HTTP: ${why}`;
  const hint = `did you mean "${right.href}"?`;
  source.fault('/traces/otlp', { code: 'wrong_collector', message, hint, severity: 'warning' });
}
