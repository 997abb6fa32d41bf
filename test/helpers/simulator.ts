import { answer } from '../../providers/simulator.js';
import { isRecord } from '../../src/lib/objects.js';
import type { WireRequest } from '../../src/core/provider.js';

export interface SimulatorAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  bytes: Buffer;
  /** The JSON object that it carries; an empty one where it carries something else. */
  json: Record<string, unknown>;
}

/** Asks the simulator without a network between, and reads its answer to the end. */
export async function askSimulator(
  method: WireRequest['method'],
  path: string,
  more: { body?: unknown; headers?: Record<string, string>; settings?: object } = {},
): Promise<SimulatorAnswer> {
  const { headers = {}, settings = {} } = more;
  const body = more.body === undefined ? undefined : JSON.stringify(more.body);
  const request = { method, path, headers, body };
  const reply = await answer(request, { ...settings }, new AbortController().signal);
  const parts: Uint8Array[] = [];
  for await (const part of reply.body) parts.push(part);
  const bytes = Buffer.concat(parts);
  const isJson = reply.headers['content-type'] === 'application/json';
  const parsed: unknown = isJson ? JSON.parse(bytes.toString('utf8')) : undefined;
  const json = isRecord(parsed) ? parsed : {};
  return { status: reply.status, headers: reply.headers, bytes, json };
}
