import type { EndpointEntry } from '../core/configuration.js';
import { distance } from '../yaml/did-you-mean.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';

/** The paths that the gateway itself answers, without a key. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);
/** The first parts of the paths of pages and of the management API. */
export const DASHBOARD_PATHS: ReadonlySet<string> = new Set([
  '',
  'agents',
  'api',
  'assets',
  'docs',
  'ledger',
  'models',
  'openapi.json',
  'operator',
  'playground',
  'reference',
  'requests',
  'settings',
  'sign-in',
  'sign-out',
  'usage',
]);
/** A path that differs from a shipped one in more letters is most likely meant. */
const SLIP = 2;

/** Warns of an endpoint that takes a shipped one from its clients, or that nobody reaches. */
export function checkSlips(
  source: Source,
  endpoint: EndpointEntry,
  shipped: readonly EndpointEntry[],
): void {
  checkOwnPath(source, endpoint);
  checkLostPath(source, endpoint, shipped);
  checkFormat(source, endpoint, shipped);
}

function checkOwnPath(source: Source, { name, method, path }: EndpointEntry): void {
  const [, first = ''] = path.split('/');
  if (DASHBOARD_PATHS.has(first) && source.text('/dashboard') !== 'false') {
    const owner = first === 'api' ? 'the management API' : 'the dashboard';
    source.fault(`/endpoints${join(name)}/at`, {
      code: 'own_path',
      message: `at: ${owner} answers at ${path}, and never this endpoint`,
      hint: 'choose another path, or write dashboard: false',
    });
  }
  if (method !== 'GET' || !PROBES.has(path)) return;
  source.fault(`/endpoints${join(name)}/at`, {
    code: 'own_path',
    message: `at: the gateway itself answers GET ${path}, without a key, and never this endpoint`,
    hint: 'choose another path, or remove it',
    severity: 'warning',
  });
}

/** An endpoint of a shipped name takes the place of that one, also where its path is misspelt. */
function checkLostPath(
  source: Source,
  { name, method, path }: EndpointEntry,
  shipped: readonly EndpointEntry[],
): void {
  const lost = shipped.find((one) => one.name === name && one.method === method);
  if (!lost || lost.path === path) return;
  const isCut = lost.path.endsWith(path);
  if (!isCut && distance(path, lost.path) > SLIP) return;
  const usual = `${method} ${lost.path}`;
  source.fault(`/endpoints${join(name)}/at`, {
    code: 'lost_path',
    message: `at: this takes the place of ${usual}, which nothing serves now`,
    hint: `did you mean ${quote(usual)}?${isCut ? ' Another name keeps both' : ''}`,
    severity: 'warning',
  });
}

/** Clients of a shipped address can neither write nor read the format of another one. */
function checkFormat(
  source: Source,
  endpoint: EndpointEntry,
  shipped: readonly EndpointEntry[],
): void {
  const { name, method, path, stages } = endpoint;
  const at = stages.findIndex((stage) => stage.name === 'validate');
  const format = stages[at]?.option;
  const usual = shipped.find((one) => one.method === method && one.path === path);
  if (!usual) return;
  const right = formatOf(usual);
  const own = shipped.find((one) => typeof format === 'string' && formatOf(one) === format);
  if (right === undefined || right === format || !own || endOf(own.path) === endOf(path)) return;
  if (usual.name !== name && worksAs(endpoint, own) && !worksAs(endpoint, usual)) {
    source.fault(`/endpoints${join(name)}/at`, {
      code: 'lost_path',
      message: `at: this takes the place of the shipped endpoint ${quote(usual.name)}`,
      hint: `write another address, such as ${method} /v1/${name}`,
      severity: 'warning',
    });
    return;
  }
  source.fault(`/endpoints${join(name)}/stages${join(at, 'validate')}`, {
    code: 'other_format',
    message: `validate: clients of ${path} send ${quote(right)}, and not ${quote(String(format))}`,
    hint: `write validate: ${right}`,
    severity: 'warning',
  });
}

/** Whether an endpoint does the work of another one, whatever its address is. */
function worksAs({ stages }: EndpointEntry, other: EndpointEntry): boolean {
  const optionOf = (all: EndpointEntry['stages'], stage: string): string =>
    JSON.stringify(all.find(({ name }) => name === stage)?.option);
  return ['route', 'transform'].every(
    (stage) => optionOf(stages, stage) === optionOf(other.stages, stage),
  );
}

/** The last two steps of a path: the formats of one kind of client share them. */
function endOf(path: string): string {
  return path.split('/').slice(-2).join('/');
}

function formatOf({ stages }: EndpointEntry): string | undefined {
  const option = stages.find(({ name }) => name === 'validate')?.option;
  return typeof option === 'string' ? option : undefined;
}
