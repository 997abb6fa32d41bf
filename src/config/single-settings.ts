import { dirname, resolve } from 'node:path';
import type { ConfigFault } from '../core/config-fault.js';
import { isRecord } from '../lib/objects.js';
import { ConfigError } from './config-error.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { parse } from '../yaml/parse.js';
import { readRegular } from '../yaml/regular-file.js';
import { Report } from '../yaml/report.js';
import type { Configuration } from '../core/configuration.js';
import type { StorePlace } from '../core/store-place.js';
import { journalFolder, readPublicUrl, LISTEN } from './settings.js';
import { readListen } from './listen-address.js';
import { quote, type Source } from '../yaml/source.js';
import { readStorePlace } from './store-place.js';
import { DEFAULT_TIME_ZONE, isTimeZone } from '../yaml/time-zone.js';
import { unreadable } from '../yaml/unreadable.js';
import { validate } from '../yaml/validate.js';

/** Is told the first fault of a file that is no YAML, of which only some lines are used. */
export type OnBroken = (fault: ConfigFault) => void;

/**
 * The place of the store, for commands that need nothing else of gateway.yaml. They work in a shell
 * without the secrets of the service, and with `on_broken` also where the file is no YAML but has a
 * line `store: URL`, or a block `store:`. Throws `Unreadable` or `ConfigError`.
 */
export async function storePlaceOf(
  file: string,
  env: NodeJS.ProcessEnv,
  on_broken?: OnBroken,
): Promise<StorePlace> {
  const source = await sourceOf(file, env, on_broken);
  const written = isRecord(source.value) ? source.value.store : undefined;
  if (typeof written !== 'string' && !isRecord(written)) refuseGuess(source);
  // The faults of all other keys do not matter here.
  source.value = {
    owners: {},
    providers: {},
    models: {},
    ...(written !== undefined && { store: written }),
  };
  const { store } = validate(source, 'gateway');
  const place = readStorePlace(source, store, dirname(resolve(file)));
  refuseFaults(source, 'store');
  return place;
}

/** The folder of the journal beside that store. Throws likewise. */
export function journalFolderOf(
  file: string,
  env: NodeJS.ProcessEnv,
  store: string,
  on_broken?: OnBroken,
): Promise<string> {
  const folder = dirname(resolve(file));
  return part(file, env, 'journal', (_, text) => journalFolder(folder, store, text), on_broken);
}

/** The address to listen on. Throws likewise. */
export function listenAddressOf(
  file: string,
  env: NodeJS.ProcessEnv,
  on_broken?: OnBroken,
): Promise<Configuration['listen']> {
  const read = (source: Source, written: string | undefined): Configuration['listen'] =>
    readListen(source, 'listen', written ?? `${LISTEN.host}:${LISTEN.port}`, LISTEN);
  return part(file, env, 'listen', read, on_broken);
}

/** The `time_zone`, UTC where the file has none that is valid. Throws likewise. */
export function timeZoneOf(
  file: string,
  env: NodeJS.ProcessEnv,
  on_broken: OnBroken,
): Promise<string> {
  const read = (_: Source, written: string | undefined): string =>
    written !== undefined && isTimeZone(written) ? written : DEFAULT_TIME_ZONE;
  return part(file, env, 'time_zone', read, on_broken);
}

/** The `public_url`, without a closing slash. Throws likewise. */
export function publicUrlOf(
  file: string,
  env: NodeJS.ProcessEnv,
  on_broken?: OnBroken,
): Promise<string> {
  const read = (source: Source, written: string | undefined): string => {
    const listen = isRecord(source.value) ? source.value.listen : undefined;
    return readPublicUrl(source, written, typeof listen === 'string' ? listen : undefined);
  };
  return part(file, env, 'public_url', read, on_broken);
}

/** The IDs of the models in the order of the file. Throws likewise. */
export function modelIdsOf(file: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  return part(file, env, 'models', (source) => source.keys('/models') ?? []);
}

/** The names of the provider entries in the order of the file. Throws likewise. */
export function providerNamesOf(file: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  return part(file, env, 'providers', (source) => source.keys('/providers') ?? []);
}

const BAD = /^(?:bad_(?:store|url|listen)|duplicate_key)$/u;

/** Whether a key at the top of the file stands there twice, so that neither value is sure. */
function isTwin({ whole }: Source, { code, column, line }: ConfigFault, key: string): boolean {
  const [text = ''] = whole.split('\n').slice(line - 1);
  const isKey = new RegExp(`^["']?${key}["']?\\s*:`).test(text);
  return code === 'duplicate_key' && column === 1 && isKey;
}

/** Faults in other parts of the file do not matter here. */
async function part<T>(
  file: string,
  env: NodeJS.ProcessEnv,
  key: 'time_zone' | 'public_url' | 'models' | 'providers' | 'journal' | 'listen',
  read: (source: Source, written: string | undefined) => T,
  on_broken?: OnBroken,
): Promise<T> {
  const source = await sourceOf(file, env, on_broken);
  const written = isRecord(source.value) ? source.value[key] : undefined;
  const value = read(source, typeof written === 'string' ? written : undefined);
  refuseFaults(source, key);
  return value;
}

/** Throws the faults of a key of the file, where its value cannot be used. */
function refuseFaults(source: Source, key: string): void {
  const pointer = `/${key}`;
  const isOwn = (one: string): boolean =>
    one === pointer || (key === 'store' && one.startsWith(`${pointer}/`));
  const lines = new Set([source.place(pointer).line]);
  source.eachMark((one) => {
    if (!isOwn(one)) return;
    for (const at of ['key', 'value'] as const) lines.add(source.place(one, at).line);
  });
  const faults = source.report
    .sorted(source.file)
    .filter((fault) => !source.readable || lines.has(fault.line) || isTwin(source, fault, key));
  const isBad = faults.some(({ code, severity }) =>
    key === 'store' ? severity === 'error' : BAD.test(code),
  );
  if (!source.readable || [...source.invalid_pointers].some(isOwn) || isBad) {
    throw new ConfigError(faults);
  }
}

/** The file; or, where it is no YAML, its lines that can be read alone. */
async function sourceOf(
  file: string,
  env: NodeJS.ProcessEnv,
  on_broken: OnBroken | undefined,
): Promise<Source> {
  const text = await readRegular(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  const context = { env, directory: dirname(resolve(file)) };
  const whole = parse(file, text, new Report(), context);
  if (whole.readable || !on_broken) return whole;
  const lines = parse(file, plainLines(text), new Report(), context);
  // The default store may not be that of the service, nor either of two.
  const isDoubled = lines.report.sorted(file).some(({ code }) => code === 'duplicate_key');
  if (!lines.readable || !lines.has('/store') || isDoubled) return whole;
  const fault = whole.report.sorted(file).find(({ severity }) => severity === 'error');
  if (fault) on_broken(fault);
  return lines;
}

/** A line with one of the keys whose value is a text, and that value. */
const PLAIN_LINE = /^(?:store|journal|time_zone|listen|public_url):[ \t]+\S/u;

const STORE_BLOCK = /^store:[ \t]*(?:#|\r?$)/u;
const WITHIN_BLOCK = /^(?:\s|#|$)/u;

/** The text with all other lines empty, so that places stay the same. */
function plainLines(text: string): string {
  let isInStore = false;
  const kept = text.split('\n').map((line) => {
    isInStore = STORE_BLOCK.test(line) || (isInStore && WITHIN_BLOCK.test(line));
    return isInStore || PLAIN_LINE.test(line) ? line : '';
  });
  return kept.join('\n');
}

/** Refuses the default store where `store` is misspelt or no store: another one may be meant. */
function refuseGuess(source: Source): void {
  const isHere = source.has('/store');
  const keys = isHere ? ['store'] : (source.keys('') ?? []).filter((key) => !key.startsWith('x-'));
  const key = keys.find((one) => nearestWord(one, ['store']) !== undefined);
  if (key === undefined) return;
  const message = isHere ? 'store must be text or a block' : `unknown key ${quote(key)}`;
  const hint = 'write store: sqlite:PATH, or store: postgres://USER:PASSWORD@HOST/DATABASE';
  source.fault(`/${key}`, { code: 'bad_store', message, hint, at: 'key' });
  const faults = source.report.sorted(source.file);
  throw new ConfigError(faults.filter(({ code }) => code === 'bad_store'));
}
