import type { ServerResponse } from 'node:http';
import { isRecord } from '../../src/lib/objects.js';
import { play, startUpstream, type FakeUpstream, type Received, type Step } from './upstream.js';

/** What the operation is when it is asked about: the fields beside `name`. */
export type Film = Record<string, unknown>;

/** A fake of one of the two services of Veo, which refuses what the real one would. */
export interface VeoServer extends FakeUpstream {
  /** `instances` and `parameters` of the submissions that were taken. */
  taken: Record<string, unknown>[];
  /** What each poll is answered, from the first; the last one repeats. */
  films: Film[];
  /** How a download is answered. */
  reel: Step;
  /** Whether a request has credentials that are good. */
  isKnown: (received: Received) => boolean;
}

type Route = (received: Received) => Step | undefined;

export const MP4 = Buffer.from(Array.from({ length: 600 }, (_, at) => at % 241));

/** `POST /v1beta/models/M:predictLongRunning`, then `GET /v1beta/NAME`. */
export function startGeminiVeo(): Promise<VeoServer> {
  return startVeo((server) => ({ method, path, json }) => {
    const model = /^\/v1beta\/models\/([^/:]+):predictLongRunning$/u.exec(path)?.[1];
    if (model !== undefined && method === 'POST') {
      const fault = geminiFault(partOf(json, 'parameters')) ?? imageFault(json);
      return fault === undefined ? submitted(server, json, `models/${model}`) : refusal(400, fault);
    }
    if (/^\/v1beta\/models\/[^/]+\/operations\/\d+$/u.test(path) && method === 'GET') {
      return polled(server, path.replace('/v1beta/', ''));
    }
    return path.startsWith('/v1beta/files/') ? server.reel : undefined;
  });
}

export const VERTEX_PATH = '/v1/projects/p-1/locations/us-central1';

/** `POST …:predictLongRunning`, then `POST …:fetchPredictOperation`; a GET of the name is a 404. */
export function startVertexVeo(): Promise<VeoServer> {
  const models = `${VERTEX_PATH}/publishers/google/models`;
  return startVeo((server) => ({ method, path, json }) => {
    if (path.startsWith('/storage/v1/b/')) return server.reel;
    const [, model, verb] = /\/models\/([^/:]+):(\w+)$/u.exec(path) ?? [];
    if (method !== 'POST' || !path.startsWith(models) || model === undefined) return undefined;
    const name = `projects/p-1/locations/us-central1/publishers/google/models/${model}`;
    if (verb === 'predictLongRunning') {
      const fault = vertexFault(partOf(json, 'parameters')) ?? imageFault(json);
      return fault === undefined ? submitted(server, json, name) : refusal(400, fault);
    }
    const asked = isRecord(json) ? String(json.operationName) : '';
    const isOwn = verb === 'fetchPredictOperation' && asked.startsWith(`${name}/operations/`);
    return isOwn ? polled(server, asked) : refusal(400, 'The operation is of another model.');
  });
}

async function startVeo(routeOf: (server: VeoServer) => Route): Promise<VeoServer> {
  const upstream = await startUpstream((received, response) => handle(received, response));
  const server: VeoServer = Object.assign(upstream, {
    taken: [],
    films: [{}],
    reel: { headers: { 'content-type': 'video/mp4' }, body: MP4 },
    isKnown: () => true,
  });
  const route = routeOf(server);
  async function handle(received: Received, response: ServerResponse): Promise<void> {
    if (!server.isKnown(received)) return play(refusal(401, 'Who are you?'), response);
    await play(route(received) ?? refusal(404, 'There is nothing here.'), response);
  }
  return server;
}

function submitted(server: VeoServer, json: unknown, name: string): Step {
  server.taken.push(isRecord(json) ? json : {});
  return document({ name: `${name}/operations/${server.taken.length}` });
}

function polled(server: VeoServer, name: string): Step {
  const film = server.films.length > 1 ? server.films.shift() : server.films[0];
  return document({ name, ...film });
}

function geminiFault(parameters: Record<string, unknown>): string | undefined {
  const banned = ['generateAudio', 'numberOfVideos', 'sampleCount', 'storageUri', 'seed', 'fps'];
  const name = banned.find((one) => one in parameters);
  if (name !== undefined) return `\`${name}\` isn't supported by this model.`;
  return lengthFault(parameters);
}

function vertexFault(parameters: Record<string, unknown>): string | undefined {
  if (typeof parameters.generateAudio !== 'boolean') return 'generateAudio is required.';
  if ('numberOfVideos' in parameters) return 'numberOfVideos is not known.';
  const count = parameters.sampleCount;
  if (typeof count !== 'number' || count < 1 || count > 4) return 'sampleCount must be 1 to 4.';
  return lengthFault(parameters);
}

function lengthFault({ durationSeconds }: Record<string, unknown>): string | undefined {
  if (typeof durationSeconds !== 'number') return 'durationSeconds needs to be a number.';
  return [4, 6, 8].includes(durationSeconds) ? undefined : 'Unsupported output video duration.';
}

function imageFault(json: unknown): string | undefined {
  const instances = isRecord(json) ? json.instances : undefined;
  const first: unknown = Array.isArray(instances) ? instances[0] : undefined;
  if (!isRecord(first) || typeof first.prompt !== 'string') return 'A prompt is required.';
  if (!('image' in first)) return undefined;
  const { bytesBase64Encoded, mimeType, ...more } = partOf(first, 'image');
  const isKnown = typeof bytesBase64Encoded === 'string' && typeof mimeType === 'string';
  return isKnown && Object.keys(more).length === 0 ? undefined : 'The image is in no known field.';
}

function partOf(json: unknown, name: string): Record<string, unknown> {
  const part = isRecord(json) ? json[name] : undefined;
  return isRecord(part) ? part : {};
}

function refusal(status: number, message: string): Step {
  return document({ error: { code: status, message, status: 'INVALID_ARGUMENT' } }, status);
}

function document(body: object, status = 200): Step {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: JSON.stringify(body) };
}
