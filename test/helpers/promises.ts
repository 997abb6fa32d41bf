import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { defaultEndpoints } from '../../src/config/endpoints.js';
import type { EndpointEntry } from '../../src/core/configuration.js';
import { openApi } from '../../src/dashboard/openapi/document.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { withTraits } from '../../src/pipeline/type-check.js';
import { builtInStages } from '../../src/stages/index.js';

type Contents = Readonly<Record<string, { schema: object }>>;
interface Promised {
  $ref?: string;
  content?: Contents;
}
type Responses = Readonly<Record<string, Promised>>;
type Paths = Readonly<Record<string, Readonly<Record<string, { responses: Responses }>>>>;

/** An answer, as far as the document promises it. */
export interface Given {
  status: number;
  type: string;
  text: string;
}

/** Statuses that any path may have, as they come before the endpoint. */
const ANYWHERE = new Set([400, 404, 405, 426, 431]);

/** Holds answers against an OpenAPI document. */
export class Promises {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: true });
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #paths: Paths;
  readonly #patterns: [RegExp, string][];

  constructor(private readonly document: object) {
    this.#ajv.addSchema(document, 'document', undefined, false);
    this.#paths = (document as { paths: Paths }).paths;
    // What a path names in more letters is the better match.
    const paths = Object.keys(this.#paths).sort((a, b) => plain(b).length - plain(a).length);
    this.#patterns = paths.map((path) => [patternOf(path), path]);
  }

  /** Throws unless the answer is what the document promises. Unknown paths promise nothing. */
  hold(method: string, url: string, answer: Given): void {
    const address = (url.split('?')[0] ?? '').replace(/%3a(\w+)$/iu, ':$1');
    const path = this.#patterns.find(([pattern]) => pattern.test(address))?.[1] ?? '';
    const at = method.toLowerCase();
    const responses = this.#paths[path]?.[at]?.responses;
    if (!responses) return;
    const what = `${method} ${path} ${answer.status}`;
    const promised = responses[answer.status];
    if (!promised) {
      if (ANYWHERE.has(answer.status)) return;
      throw new Error(`The document promises no such status: ${what} ${answer.text.slice(0, 300)}`);
    }
    const way = promised.$ref
      ? promised.$ref.slice(2).split('/')
      : ['paths', path, at, 'responses', String(answer.status)];
    const content = this.#contentAt(way);
    const type = answer.type.split(';')[0]?.trim() ?? '';
    const schema = content?.[type]?.schema;
    if (!schema) {
      if (!content || wildcard(content, type)) return;
      throw new Error(`The document promises no ${type}: ${what}`);
    }
    if ('contentMediaType' in schema) return;
    const valid = this.#validator([...way, 'content', type, 'schema']);
    for (const body of bodiesOf(type, answer.text)) {
      if (valid(body)) continue;
      const complaints = this.#ajv.errorsText(valid.errors);
      throw new Error(`${what}: ${complaints}\nin ${JSON.stringify(body).slice(0, 2_000)}`);
    }
  }

  #contentAt(way: readonly string[]): Contents | undefined {
    let at: unknown = this.document;
    for (const step of way) at = (at as Record<string, unknown>)[step];
    return (at as Promised).content;
  }

  #validator(way: readonly string[]): ValidateFunction {
    const steps = way.map((step) => encodeURIComponent(step.replaceAll('/', '~1')));
    const pointer = `document#/${steps.join('/')}`;
    const known = this.#compiled.get(pointer) ?? this.#ajv.compile({ $ref: pointer });
    this.#compiled.set(pointer, known);
    return known;
  }
}

function plain(path: string): string {
  return path.replaceAll(/\{\w+\}/gu, '');
}

/** The ID of a model may have slashes. */
function patternOf(path: string): RegExp {
  const literal = path.replaceAll(/[.*+?^$()|[\]\\]/gu, '\\$&');
  const open = literal.replaceAll(/\{(\w+)\}/gu, (_, name: string) =>
    name === 'model' ? '.+' : '[^/]+',
  );
  return new RegExp(`^${open}$`, 'u');
}

function wildcard(content: Contents, type: string): boolean {
  return Object.keys(content).some((one) => type.startsWith(one.replace('*', '')));
}

/** The JSON of an answer, or that of each event of a stream. */
function bodiesOf(type: string, text: string): unknown[] {
  if (type === 'application/json') return text === '' ? [] : [JSON.parse(text)];
  if (type !== 'text/event-stream') return [];
  const data = [...text.matchAll(/^data: ?(.*)$/gmu)].map(([, one = '']) => one.trim());
  return data.filter((one) => one !== '' && one !== '[DONE]').map((one) => JSON.parse(one));
}

let shipped: Promises | undefined;

/** Holds an answer of a shipped endpoint against the document of the shipped configuration. */
export function holdShipped(method: string, url: string, answer: Given): void {
  shipped ??= new Promises(openApi({ public_url: '', endpoints: shippedEndpoints() }, []));
  shipped.hold(method, url, answer);
}

function shippedEndpoints(): EndpointEntry[] {
  const endpoints = defaultEndpoints(MODALITIES).map(({ name, at, stages }) => {
    const [method = '', path = ''] = at.split(' ');
    const entries = stages.map((stage) => {
      const [[word = '', option] = []] =
        typeof stage === 'string' ? [[stage]] : Object.entries(stage);
      return { name: word, option };
    });
    return { name, method, path, stages: entries } as unknown as EndpointEntry;
  });
  return withTraits(endpoints, builtInStages(MODALITIES));
}
