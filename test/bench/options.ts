import { Command, InvalidArgumentError, Option } from 'commander';
import { KINDS, type Kind, type Work } from './wording.js';

export interface Options {
  rounds: number;
  seconds: number;
  works: readonly Work[];
  /** Answers in the memory run; 0 leaves it out. */
  rss_requests: number;
  portkey: boolean;
  /** The folder of another build of this gateway, to be measured in the same run. */
  beside: string | undefined;
  /** How many processes of this build, and of the one beside it, are measured one after another. */
  processes: number;
  json: string | undefined;
}

interface Raw {
  rounds?: number;
  seconds?: number;
  connections?: number[];
  only?: Kind | 'rss';
  quick?: true;
  peer?: string;
  beside?: string;
  processes?: number;
  json?: string;
}

const RSS_REQUESTS = 100_000;
/** One process of a build is up to 15 % faster than another for as long as it lives. */
const PROCESSES_BESIDE = 3;
/** Bursts saturate a system at any number, and long streams bear no calls, so one is enough. */
const ONE_NUMBER = 64;
const USUAL = { rounds: 3, seconds: 3, connections: [1, 64, 256], rss_requests: RSS_REQUESTS };
const QUICK = { rounds: 1, seconds: 1.5, connections: [1, 64], rss_requests: RSS_REQUESTS / 10 };

export function readOptions(argv: readonly string[]): Options {
  const raw = program().parse(argv, { from: 'user' }).opts<Raw>();
  const defaults = raw.quick ? QUICK : USUAL;
  const connections = raw.connections ?? defaults.connections;
  const kinds = KINDS.filter((kind) => raw.only === undefined || raw.only === kind);
  return {
    rounds: raw.rounds ?? defaults.rounds,
    seconds: raw.seconds ?? defaults.seconds,
    works: kinds.flatMap((kind) => worksOf(kind, raw.connections, connections)),
    rss_requests: raw.only === undefined || raw.only === 'rss' ? defaults.rss_requests : 0,
    portkey: raw.peer === 'portkey',
    beside: raw.beside,
    processes: raw.processes ?? (raw.beside === undefined ? 1 : PROCESSES_BESIDE),
    json: raw.json,
  };
}

function worksOf(kind: Kind, chosen: number[] | undefined, usual: number[]): Work[] {
  const takesOne = kind === 'burst' || kind === 'long';
  const numbers = takesOne ? (chosen ?? [ONE_NUMBER]) : usual;
  return numbers.map((connections) => ({ kind, connections }));
}

function program(): Command {
  return new Command('npm run bench --')
    .description('Measures this gateway against bare proxies, in turns, in one run.')
    .option('--rounds <n>', 'how often all works come round', number)
    .option('--seconds <n>', 'measured time of a system and a work in a round', number)
    .option('--connections <list>', 'such as 1,64,256', numbers)
    .addOption(new Option('--only <part>', 'one part').choices([...KINDS, 'rss']))
    .addOption(new Option('--peer <name>', 'a peer, fetched by npx').choices(['portkey']))
    .option('--beside <folder>', 'another checkout of this gateway, built')
    .option('--processes <n>', 'processes of each build; 3 with --beside, else 1', number)
    .option('--quick', 'less of everything: about five minutes, and rougher')
    .option('--json <file>', 'write all numbers there too');
}

function number(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above zero.');
  return value;
}

function numbers(text: string): number[] {
  return text.split(',').map(number);
}
