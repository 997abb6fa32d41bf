import { readdir, readFile, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parseJson } from '../lib/json-text.js';
import { isRecord } from '../lib/objects.js';
import { sendSmall } from '../upstream/small-request.js';
import type { Catalogue } from './catalogue.js';
import { COST_MAP } from './cost-map.js';
import { MODELS_DEV } from './models-dev.js';

/** Far more than any of the catalogues has. */
const MAX_BYTES = 32 * 1024 ** 2;
const MAX_FILES = 50_000;
const DOWNLOAD_MS = 60_000;

const FORMATS = [MODELS_DEV, COST_MAP];

/** The public catalogue that is asked where none is named. */
const USUAL = { name: 'models.dev', url: 'https://models.dev/api.json' };

/** A catalogue cannot be had. The message is a sentence for the person who named it. */
export class NoCatalogue extends Error {
  override name = 'NoCatalogue';
}

export interface ReadCatalogue {
  /** The address or the path. */
  source: string;
  models: Catalogue;
  /** How many entries are not as the format has them, and were left out. */
  skipped: number;
}

/**
 * Reads a catalogue: `models.dev`, an address, a file, or a folder with the repository of
 * models.dev. Throws `NoCatalogue`.
 */
export async function readCatalogue(from = USUAL.name): Promise<ReadCatalogue> {
  const source = from === USUAL.name ? USUAL.url : from;
  const isUrl = /^[a-z][a-z+.-]*:\/\//iu.test(source);
  const value = isUrl ? await download(source) : await readPath(source);
  const format = isRecord(value) ? FORMATS.find((one) => one.isFormatOf(value)) : undefined;
  if (!format || !isRecord(value)) {
    throw new NoCatalogue(
      `${source} is neither the catalogue of models.dev nor a map of costs as LiteLLM has it`,
    );
  }
  const { models, skipped } = format.read(value);
  if (models.size === 0) throw new NoCatalogue(`${source} has no model in a form that is known`);
  return { source, models, skipped };
}

async function download(url: string): Promise<unknown> {
  if (!URL.canParse(url)) throw new NoCatalogue(`${url} is no address`);
  const { protocol, hostname } = new URL(url);
  // Whoever is between could write any price.
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  if (!isSafe) throw new NoCatalogue(`${url} is not safe on its way: write an https: address`);
  const limits = { timeout_ms: DOWNLOAD_MS, max_bytes: MAX_BYTES };
  const answer = await sendSmall(url, { method: 'GET' }, limits).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : 'no answer';
    throw new NoCatalogue(`${url} cannot be read: ${reason}`, { cause: error });
  });
  if (answer.status !== 200) {
    throw new NoCatalogue(`${url} cannot be read: it answers with status ${answer.status}`);
  }
  return jsonIn(url, await answer.text());
}

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/u;

async function readPath(path: string): Promise<unknown> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) return readFolder(path);
  if (!info?.isFile()) throw new NoCatalogue(`${path} is no file, no folder and no address`);
  if (info.size > MAX_BYTES) throw new NoCatalogue(`${path} has more than ${MAX_BYTES} bytes`);
  return jsonIn(path, await readFile(path, 'utf8'));
}

function jsonIn(source: string, text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new NoCatalogue(`${source} is not JSON, or far too large`);
  return value;
}

/** The repository of models.dev: `providers/NAME/models/ID.toml`, with what `models/` shares. */
async function readFolder(folder: string): Promise<unknown> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const named = files.filter((file) => file.endsWith('.toml')).map(slashed);
  if (named.length === 0) throw new NoCatalogue(`${folder} has no TOML files`);
  if (named.length > MAX_FILES) throw new NoCatalogue(`${folder} has over ${MAX_FILES} files`);
  const shared = new Map<string, Toml>();
  const providers: Record<string, { models: Record<string, unknown> }> = {};
  // What models share is read before them: `models/` comes before `providers/`.
  for (const file of named.toSorted()) {
    const [, provider, id] = PART.exec(file) ?? [];
    const [, base] = /^models\/(.+)\.toml$/u.exec(file) ?? [];
    if (id === undefined && base === undefined) continue;
    const model = await tomlIn(join(folder, file));
    if (!model) continue;
    if (base !== undefined) shared.set(base, model);
    if (provider === undefined || id === undefined) continue;
    providers[provider] ??= { models: {} };
    providers[provider].models[id] = withBase(model, shared);
  }
  return providers;
}

type Toml = Readonly<Record<string, unknown>>;

const PART = /^providers\/([^/]+)\/models\/(.+)\.toml$/u;

function slashed(file: string): string {
  return file.replaceAll(sep, '/');
}

/** Undefined for a link that leads nowhere. */
async function tomlIn(file: string): Promise<Toml | undefined> {
  const info = await stat(file).catch(() => undefined);
  if (!info?.isFile()) return undefined;
  if (info.size > MAX_BYTES) throw new NoCatalogue(`${file} has more than ${MAX_BYTES} bytes`);
  try {
    return parseToml(await readFile(file, 'utf8'));
  } catch (error) {
    throw new NoCatalogue(`${file} is not TOML`, { cause: error });
  }
}

/** What a model shares with others, under what it says itself. */
function withBase(model: Toml, shared: ReadonlyMap<string, Toml>): Toml {
  const { base_model, base_model_omit: omitted } = model;
  const base = typeof base_model === 'string' ? shared.get(base_model) : undefined;
  const whole: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(model)) {
    const under = whole[key];
    whole[key] = isRecord(under) && isRecord(value) ? { ...under, ...value } : value;
  }
  for (const path of Array.isArray(omitted) ? omitted : []) {
    const [key = '', inner] = String(path).split('.');
    const part = whole[key];
    if (inner === undefined) delete whole[key];
    else if (isRecord(part)) whole[key] = withoutKey(part, inner);
  }
  return whole;
}

function withoutKey(part: Toml, key: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part).filter(([name]) => name !== key));
}
