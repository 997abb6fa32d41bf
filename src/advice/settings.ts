import { dirname } from 'node:path';
import type { FinishedFile } from '../config/load.js';
import { hasOwnAddress } from '../pipeline/model-check.js';
import { isAllowed } from '../config/allow-list.js';
import { storeUrlPointer } from '../config/store-place.js';
import { nearestWord } from '../yaml/did-you-mean.js';
import { pointer as join, label, quote } from '../yaml/source.js';
import { parseDuration } from '../yaml/units.js';
import type { Advice } from './advice.js';

/** A limit under which ordinary calls fail, most likely as it is in another unit. */
interface SmallLimit {
  pointer: string;
  amount: number | undefined;
  least: number;
  effect: string;
  hint: string;
}

function limitsOf({ configuration, models }: FinishedFile): SmallLimit[] {
  const { limits, drain_ms } = configuration;
  const makesImages = models.some(({ capabilities }) => capabilities.has('image'));
  const process: SmallLimit[] = [
    {
      pointer: '/limits/body',
      amount: limits.body_bytes,
      least: 100_000,
      effect: 'is less than a request with an image has',
      hint: 'write a larger one, such as 20mb',
    },
    {
      pointer: '/limits/answer',
      amount: limits.answer_bytes,
      // An answer with ten images as base64 has more.
      least: makesImages ? 8_000_000 : 1_000_000,
      effect: 'is less than an answer with images has, which is paid and then thrown away',
      hint: 'write a larger one, such as 64mb',
    },
    {
      pointer: '/limits/task',
      amount: limits.task_ms,
      least: 300_000,
      effect: 'is over before most videos are made',
      hint: 'write a larger one, such as 24h',
    },
    {
      pointer: '/drain',
      amount: drain_ms || undefined,
      least: 1_000,
      effect: 'cuts running answers at each restart',
      hint: `did you mean "${drain_ms}s"?`,
    },
  ];
  const ofModels = models.flatMap(({ pointer, limits: { max_tokens, context, audio_seconds } }) => [
    {
      pointer: `${pointer}/limits/max_tokens`,
      amount: max_tokens,
      least: 64,
      effect: 'cuts answers after some words',
      hint: `if it is meant in thousands write ${Number(max_tokens) * 1_000}`,
    },
    {
      pointer: `${pointer}/limits/context`,
      amount: context,
      least: 1_024,
      effect: 'refuses most prompts',
      hint: `if it is meant in thousands write ${Number(context) * 1_000}`,
    },
    {
      pointer: `${pointer}/limits/audio_seconds`,
      amount: audio_seconds,
      least: 60,
      effect: 'seconds refuse most recordings',
      hint: `if it is meant in minutes write ${Number(audio_seconds) * 60}`,
    },
  ]);
  return [...process, ...ofModels];
}

export const smallLimit: Advice = {
  code: 'small_limit',
  saves: 'paid answers that are cut or thrown away',
  *check(view) {
    const { source } = view;
    for (const { pointer, amount, least, effect, hint } of limitsOf(view)) {
      if (amount === undefined || amount >= least) continue;
      if (!source.has(pointer) || source.hides(pointer)) continue;
      const name = pointer.includes('/limits/') ? `limits.${pointer.split('/').at(-1)}` : 'drain';
      yield { pointer, message: `${name}: ${source.word(pointer)} ${effect}`, hint };
    }
  },
};

/** No model answers sooner; a shorter time is most likely one of seconds in milliseconds. */
const SHORTEST_MS = { first_byte_ms: 1_000, idle_ms: 500, total_ms: 1_000 };

export const shortTimeout: Advice = {
  code: 'short_timeout',
  saves: 'answers that the upstream bills and nobody reads',
  *check({ source, providers, models }) {
    const blocks = [
      '/defaults',
      ...[...providers.keys()].map((name) => `/providers${join(name)}`),
      ...models.flatMap(({ pointer, upstreams }) => [
        pointer,
        ...upstreams.map((one) => one.pointer),
      ]),
    ];
    for (const block of blocks) {
      for (const phase of ['first_byte', 'idle', 'total'] as const) {
        const pointer = `${block}/timeout/${phase}`;
        const time_ms = parseDuration(source.text(pointer) ?? '');
        if (time_ms === undefined || time_ms >= SHORTEST_MS[`${phase}_ms`]) continue;
        const [, number = '60'] = /^(\d+)ms$/.exec(source.text(pointer) ?? '') ?? [];
        yield {
          pointer,
          message: `timeout.${phase}: ${source.word(pointer)} is over before a model answers`,
          hint: `did you mean "${source.hides(pointer) ? '60' : number}s"?`,
        };
      }
    }
  },
};

/** Folders that are emptied when the machine starts, or with the container. */
const EMPTIED = /^(\/(?:tmp|run|var\/run|dev\/shm))\//;

export const emptiedFolder: Advice = {
  code: 'emptied_folder',
  saves: 'the ledger, and the charges that wait for it',
  *check({ source, configuration: { directory, store, journal } }) {
    const kept = [
      [storeUrlPointer(source), store.url, 'sqlite:/var/lib/tollgate/tollgate.db'],
      ['/journal', journal, '/var/lib/tollgate/journal'],
    ] as const;
    for (const [pointer, path, usual] of kept) {
      const [, folder] = EMPTIED.exec(path.replace(/^sqlite:/u, '')) ?? [];
      const key = label(pointer);
      if (folder === undefined || !source.has(pointer) || source.hides(pointer)) continue;
      // All of a configuration that stands there itself is for a trial.
      if (dirname(`${directory}/.`).startsWith(folder)) continue;
      yield {
        pointer,
        message: `${key}: files in ${folder} are lost when the machine or container restarts`,
        hint: `write ${key}: ${usual}, or a path on another disk that is kept`,
      };
    }
  },
};

/** More dollars are hardly meant for everybody who signs in. */
const MUCH_CREDIT_NANO = 1_000_000_000_000n;

export const muchCredit: Advice = {
  code: 'much_credit',
  saves: 'the credit that each newcomer gets',
  *check({ source, configuration }) {
    const pointer = '/sign_in/credit';
    if (configuration.sign_in.credit_nano <= MUCH_CREDIT_NANO) return;
    const message = `credit: each newcomer gets ${source.word(pointer)} dollars`;
    yield { pointer, message, hint: 'write what a newcomer may spend, such as 1.00' };
  },
};

/** Hosts of mail where anybody gets an address, and any number of them. */
const FREE_MAIL =
  'gmail|googlemail|outlook|hotmail|live|yahoo|icloud|aol|proton|protonmail|gmx|web|qq';
const MAIL_FOR_ALL = new RegExp(`^@(?:${FREE_MAIL})\\.(?:com|me|net|de|at|fr|co\\.uk)$`, 'i');

export const openCredit: Advice = {
  code: 'open_credit',
  saves: 'credit that anybody could take, again and again',
  *check({ source, configuration: { sign_in } }) {
    const at = sign_in.allow.findIndex((one) => one === '*' || MAIL_FOR_ALL.test(one));
    const open = sign_in.allow[at];
    if (open === undefined || sign_in.credit_nano === 0n) return;
    const isAll = open === '*';
    const why = isAll ? '"*" lets everybody in' : `anybody can get an address ${quote(open)}`;
    const right = isAll
      ? "list the domain of your people, such as '@example.org'"
      : `list the addresses of your people, such as ada${open}`;
    yield {
      pointer: `/sign_in/allow${join(at)}`,
      message: `allow: ${why}, and each gets the credit of ${source.word('/sign_in/credit')}`,
      hint: `${right}, or leave the credit out`,
    };
  },
};

export const operatorShutOut: Advice = {
  code: 'operator_shut_out',
  saves: 'the first hour: an operator who cannot sign in',
  *check({ source, configuration: { sign_in } }) {
    const { operators, allow } = sign_in;
    for (const [i, email] of operators.entries()) {
      if (allow.length === 0 || isAllowed(email, allow)) continue;
      const pointer = `/sign_in/operators${join(i)}`;
      const domain = email.slice(email.lastIndexOf('@'));
      const near = nearestWord(domain, [...allow]) ?? nearestWord(email, [...allow]);
      const right = near?.startsWith('@') ? email.replace(domain, near) : near;
      const isShown = right !== undefined && !source.hides(pointer);
      const near_hint = isShown ? `did you mean ${quote(right)}? else ` : '';
      const hint = `${near_hint}add the address to allow`;
      const message = `operators: ${source.word(pointer)} is not let in by "allow"`;
      yield { pointer, message, hint };
    }
  },
};

export const billedAbort: Advice = {
  code: 'billed_abort',
  saves: 'the answers of clients that leave, which the provider bills on',
  *check({ source, gateway, providers }) {
    for (const [name, { manifest, provider }] of providers) {
      const isOdd = manifest.data.on_abort === 'drain' && !hasOwnAddress(source, name);
      if (gateway.providers?.[name]?.on_abort !== 'abort' || !isOdd) continue;
      const own = quote(provider.manifest);
      yield {
        pointer: `/providers${join(name)}/on_abort`,
        message: `on_abort: ${own} bills on after an abort, and clients would not pay for that`,
        hint: 'remove it, unless your contract says otherwise',
      };
    }
  },
};
