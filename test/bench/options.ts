import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Peer } from './peers.js';
import { LEAST_TURN_BYTES } from './request-bodies.js';
import { FORMATS, KINDS, type Format, type Kind, type Work } from './wording.js';

export interface Options {
  rounds: number;
  seconds: number;
  works: readonly Work[];
  /** Answers in the memory run; 0 leaves it out. */
  rss_requests: number;
  /** The folder of another build of this gateway, to be measured in the same run. */
  beside: string | undefined;
  /** Gateways that run already. */
  peers: readonly Peer[];
  /** Where the upstream listens; 0 for any free port. */
  upstream_port: number;
  /** How many processes of this build, and of the one beside it, are measured one after another. */
  processes: number;
  json: string | undefined;
}

interface Named {
  name: string;
  value: string;
}

interface Raw {
  rounds?: number;
  seconds?: number;
  connections?: number[];
  only?: Kind | 'rss';
  body?: number[];
  format?: Format[];
  upstreamFormat?: Format;
  rate?: number;
  rssRequests?: number;
  quick?: true;
  beside?: string;
  besideUrl?: Named[];
  besideHeader?: Named[];
  besidePid?: Named[];
  upstreamPort?: number;
  processes?: number;
  json?: string;
}

const RSS_REQUESTS = 100_000;
/** One process of a build is up to 15 % faster than another for as long as it lives. */
const PROCESSES_BESIDE = 3;
/** Bursts saturate a system at any number, and long streams bear no calls, so one is enough. */
const ONE_NUMBER = [64];
/** What an agent's turn is measured at: alone, and as many as keep a system busy. */
const TURN_CONNECTIONS = [1, 16];
const RATE_CONNECTIONS = [16];
const USUAL = { rounds: 3, seconds: 3, connections: [1, 64, 256], rss_requests: RSS_REQUESTS };
const QUICK = { rounds: 1, seconds: 1.5, connections: [1, 64], rss_requests: RSS_REQUESTS / 10 };
const KB = 1_024;
const SIZES: Record<string, number> = { '': 1, k: KB, m: KB * KB };
const LAST_PORT = 65_535;

/** Throws an error that says what to change where options do not fit each other. */
export function readOptions(argv: readonly string[]): Options {
  const raw = program().parse(argv, { from: 'user' }).opts<Raw>();
  const defaults = raw.quick ? QUICK : USUAL;
  const kinds = kindsOf(raw);
  const rss_requests = raw.rssRequests ?? defaults.rss_requests;
  return {
    rounds: raw.rounds ?? defaults.rounds,
    seconds: raw.seconds ?? defaults.seconds,
    works: kinds.flatMap((kind) => worksOf(kind, raw, defaults.connections)),
    rss_requests: raw.only === 'rss' || kinds.length === KINDS.length ? rss_requests : 0,
    beside: raw.beside,
    peers: peersOf(raw),
    upstream_port: raw.upstreamPort ?? 0,
    processes: raw.processes ?? (raw.beside === undefined ? 1 : PROCESSES_BESIDE),
    json: raw.json,
  };
}

/** Turns, formats and rates are of whole answers, but a stream may answer a turn too. */
function kindsOf({ only, body, format, upstreamFormat, rate, rssRequests }: Raw): Kind[] {
  const is_json = [format, upstreamFormat, rate].some((option) => option !== undefined);
  const is_turn = body !== undefined;
  if (only !== undefined && only !== 'json' && is_json) {
    throw new Error(`--only ${only} goes with no --format and no --rate.`);
  }
  if (only === 'rss' && is_turn) throw new Error('--only rss makes small calls, without --body.');
  if (rssRequests !== undefined && (is_json || is_turn || (only ?? 'rss') !== 'rss')) {
    throw new Error('--rss-requests goes with --only rss, or with a run of everything.');
  }
  const chosen = only ?? (is_json || is_turn ? 'json' : undefined);
  return KINDS.filter((kind) => chosen === undefined || kind === chosen);
}

function worksOf(kind: Kind, raw: Raw, usual: number[]): Work[] {
  const { rate, upstreamFormat } = raw;
  const numbers = raw.connections ?? connectionsOf(kind, raw, usual);
  return (raw.format ?? ['chat']).flatMap((format) =>
    (raw.body ?? [undefined]).flatMap((turn_bytes) =>
      numbers.map((connections) => ({
        kind,
        connections,
        format,
        upstream_format: upstreamFormat ?? format,
        turn_bytes,
        rate,
      })),
    ),
  );
}

function connectionsOf(kind: Kind, { body, rate }: Raw, usual: number[]): number[] {
  if (kind === 'burst' || kind === 'long') return ONE_NUMBER;
  if (rate !== undefined) return RATE_CONNECTIONS;
  return body === undefined ? usual : TURN_CONNECTIONS;
}

function peersOf({ besideUrl = [], besideHeader = [], besidePid = [], upstreamPort }: Raw): Peer[] {
  const names = besideUrl.map(({ name }) => name);
  for (const { name } of [...besideHeader, ...besidePid]) {
    if (!names.includes(name)) {
      throw new Error(
        `${name} has no --beside-url; those that have one: ${names.join(', ') || '-'}`,
      );
    }
  }
  if (names.length > 0 && upstreamPort === undefined) {
    throw new Error(
      '--beside-url needs --upstream-port, the port that the peer sends its calls to.',
    );
  }
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw new Error(`${repeated} has two --beside-url.`);
  return besideUrl.map(({ name, value }) => ({
    name,
    base: new URL(value),
    headers: Object.fromEntries(besideHeader.filter(isOf(name)).map(headerOf)),
    pid: besidePid.filter(isOf(name)).map((one) => Number(one.value))[0],
  }));
}

function isOf(name: string): (one: Named) => boolean {
  return (one) => one.name === name;
}

function headerOf({ value }: Named): [string, string] {
  const colon = value.indexOf(':');
  return [value.slice(0, colon).trim(), value.slice(colon + 1).trim()];
}

function program(): Command {
  return new Command('npm run bench --')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .description('Measures this gateway against bare proxies and others, in turns, in one run.')
    .option('--rounds <n>', 'how often all works come round', wholeNumber)
    .option('--seconds <n>', 'measured time of a system and a work in a round', numberAboveZero)
    .option('--connections <list>', 'such as 1,64,256', wholeNumbers)
    .addOption(new Option('--only <part>', 'one part').choices([...KINDS, 'rss']))
    .option('--body <list>', "sizes of an agent's turn, such as 200k,2m; else small calls", sizes)
    .option('--format <list>', `what clients speak: ${FORMATS.join(', ')}`, formats)
    .addOption(
      new Option('--upstream-format <format>', 'what the upstream speaks; else the same').choices(
        FORMATS,
      ),
    )
    .option('--rate <n>', 'calls a second, over all connections', numberAboveZero)
    .option('--rss-requests <n>', 'answers while memory is watched', wholeNumber)
    .option('--beside <folder>', 'another checkout of this gateway, built', buildFolder)
    .option('--beside-url <name=url>', 'a gateway that runs already (repeatable)', urls)
    .option('--beside-header <name=header>', 'such as "hub=authorization: Bearer x"', headers)
    .option('--beside-pid <name=pid>', 'its process: with its children, measured too', pids)
    .option('--upstream-port <port>', 'where such gateways find the upstream', portNumber)
    .option('--processes <n>', 'processes of each build; 3 with --beside, else 1', wholeNumber)
    .option('--quick', 'less of everything: about five minutes, and rougher')
    .option('--json <file>', 'write all numbers there too');
}

function numberAboveZero(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) refuse('a number above zero');
  return value;
}

/** Reads an option. Throws `InvalidArgumentError` unless it is a whole number above zero. */
export function wholeNumber(text: string): number {
  const value = numberAboveZero(text);
  if (!Number.isSafeInteger(value)) refuse('a whole number above zero');
  return value;
}

function wholeNumbers(text: string): number[] {
  return text.split(',').map(wholeNumber);
}

function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value > LAST_PORT) refuse(`a port, at most ${LAST_PORT}`);
  return value;
}

function sizes(text: string): number[] {
  return text.split(',').map((one) => {
    const [, digits = '', unit = ''] = /^(\d+)([km]?)$/u.exec(one.toLowerCase()) ?? [];
    const bytes = Number(digits) * (SIZES[unit] ?? 0);
    if (bytes < LEAST_TURN_BYTES)
      refuse(`sizes such as 200k or 2m, from ${LEAST_TURN_BYTES / KB}k`);
    return bytes;
  });
}

function formats(text: string): Format[] {
  return text.split(',').map((one) => {
    return FORMATS.find((format) => format === one) ?? refuse(`some of ${FORMATS.join(', ')}`);
  });
}

function buildFolder(folder: string): string {
  if (existsSync(`${folder}/dist/src/cli/main.js`)) return folder;
  return refuse('a checkout that was built by npm run build');
}

function urls(text: string, before: Named[] = []): Named[] {
  const { name, value } = namedValue(text);
  if (!URL.canParse(value) || new URL(value).protocol !== 'http:') {
    refuse('NAME=URL with an http: address, such as hub=http://127.0.0.1:3000');
  }
  return [...before, { name, value }];
}

function headers(text: string, before: Named[] = []): Named[] {
  const { name, value } = namedValue(text);
  if (!/^[\w-]+:./u.test(value)) refuse('such as "hub=authorization: Bearer KEY"');
  return [...before, { name, value }];
}

function pids(text: string, before: Named[] = []): Named[] {
  const { name, value } = namedValue(text);
  if (!existsSync(`/proc/${wholeNumber(value)}`)) refuse(`NAME=PID; no process ${value} runs here`);
  return [...before, { name, value }];
}

function namedValue(text: string): Named {
  const [, name, value] = /^([^=]+)=(.+)$/su.exec(text) ?? [];
  return name === undefined || value === undefined ? refuse('NAME=VALUE') : { name, value };
}

function refuse(wanted: string): never {
  throw new InvalidArgumentError(`It must be ${wanted}.`);
}
