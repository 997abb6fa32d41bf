import { startUpstream, type FakeUpstream, type Handler } from './upstream.js';

/** A span as it travels by OTLP, with its attributes as an object. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number };
  attributes: Record<string, unknown>;
}

interface Attribute {
  key: string;
  value: {
    stringValue?: string;
    intValue?: number | string;
    doubleValue?: number;
    boolValue?: boolean;
    arrayValue?: { values: { stringValue?: string }[] };
  };
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: Attribute[] })[] }[];
  }[];
}

export interface Collector extends FakeUpstream {
  /** All spans so far. */
  spans(): ReceivedSpan[];
  resources(): Record<string, unknown>[];
}

/** A real OTLP receiver on the loopback interface, which takes all that it gets. */
export async function startCollector(handler?: Handler): Promise<Collector> {
  const ok: Handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const upstream = await startUpstream(handler ?? ok);
  const exports = (): Export['resourceSpans'] =>
    upstream.requests.flatMap(({ json }) => (json as Export).resourceSpans);
  return Object.assign(upstream, {
    spans: () =>
      exports()
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map((span) => ({ ...span, attributes: plain(span.attributes) })),
    resources: () => exports().map(({ resource }) => plain(resource.attributes)),
  });
}

function plain(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { intValue, arrayValue, ...value } }) => {
      if (intValue !== undefined) return [key, Number(intValue)];
      if (arrayValue) return [key, arrayValue.values.map((one) => one.stringValue)];
      return [key, Object.values(value)[0]];
    }),
  );
}
