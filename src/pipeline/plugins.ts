import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { EndpointEntry, StageEntry } from '../core/configuration.js';
import type { Stage, StageMiddleware } from './stage.js';
import type { ConfigFault } from '../core/config-fault.js';

/**
 * Loads the stages that endpoints name: built-in ones and the operator's own. Those are a path
 * relative to `main` (`./plugins/mask-pii.js`) or an installed package, whose default export is a
 * `Stage`. A word that is neither built in nor a package is left for the type check to refuse.
 */
export async function stagesFor(
  main: string,
  endpoints: readonly EndpointEntry[],
  builtIn: ReadonlyMap<string, Stage>,
): Promise<{ stages: ReadonlyMap<string, Stage>; faults: ConfigFault[] }> {
  const stages = new Map(builtIn);
  const faults: ConfigFault[] = [];
  // By an alias of YAML, one line of the file may be part of several endpoints.
  const entries = new Map<string, StageEntry>();
  for (const entry of endpoints.flatMap((endpoint) => endpoint.stages)) {
    const { file, line, column } = entry.place;
    entries.set([entry.name, file, line, column].join('\n'), entry);
  }
  for (const entry of entries.values()) {
    if (stages.has(entry.name)) continue;
    const path = resolvePlugin(main, entry.name);
    if (path === undefined) continue;
    try {
      stages.set(entry.name, await importStage(path));
    } catch (error) {
      faults.push(pluginFault(entry, error));
    }
  }
  return { stages, faults };
}

function resolvePlugin(main: string, name: string): string | undefined {
  const require = createRequire(pathToFileURL(main));
  try {
    return require.resolve(name);
  } catch {
    return isPath(name) ? name : undefined;
  }
}

function isPath(name: string): boolean {
  return name.startsWith('./') || name.startsWith('../') || name.startsWith('/');
}

async function importStage(path: string): Promise<Stage> {
  if (isPath(path) && !path.startsWith('/')) throw new Error(NO_FILE);
  const module = (await import(await addressOf(path))) as { default?: unknown };
  if (!isStage(module.default)) throw new Error(NO_STAGE);
  return ownStage(module.default);
}

/** The modification time of each file when it was first loaded. */
const loaded = new Map<string, number>();

/** The URL to import. Node loads a module once per URL, so a changed file gets another URL. */
async function addressOf(path: string): Promise<string> {
  const info = await stat(path);
  if (!info.isFile()) throw new Error('it is no regular file');
  const { mtimeMs } = info;
  const { href } = pathToFileURL(path);
  const first = loaded.get(path) ?? mtimeMs;
  loaded.set(path, first);
  if (mtimeMs === first) return href;
  // CommonJS modules are cached by their path alone.
  delete createRequire(href).cache[path];
  return `${href}?changed=${mtimeMs}`;
}

function isStage(value: unknown): value is Stage {
  if (typeof value !== 'object' || value === null) return false;
  const { name, shape, create } = value as Partial<Record<keyof Stage, unknown>>;
  const shaped = typeof shape === 'function' || (typeof shape === 'object' && shape !== null);
  return typeof name === 'string' && shaped && typeof create === 'function';
}

const NO_FILE = 'there is no such file';
const NO_STAGE = 'its default export is not a stage';

const HINTS: Readonly<Record<string, string>> = {
  [NO_FILE]: 'a path is relative to the folder of gateway.yaml',
  [NO_STAGE]: 'write export default { name, shape, create }',
};

function pluginFault({ name, place }: StageEntry, error: unknown): ConfigFault {
  const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'unknown fault';
  return {
    severity: 'error',
    code: 'plugin',
    ...place,
    message: `the stage "${name}" cannot be loaded: ${reason}`,
    hint: HINTS[reason] ?? 'correct that in the file',
  };
}

/**
 * Wraps an operator's own stage. A request is over only when all its stages are. Where the stage
 * does not wait for the promise of `next`, the wrapper does: otherwise a rejection of that promise
 * would end the process, and no client would see the error.
 */
export function ownStage(stage: Stage): Stage {
  const create: Stage['create'] = (...given) => {
    const run: unknown = stage.create(...given);
    if (typeof run === 'function') return waiting(run as StageMiddleware);
    throw new Error(`The stage ${stage.name} makes no function to be run.`);
  };
  const { name, shape } = stage;
  if (typeof shape !== 'function') return { name, shape, create };
  // A stage may be an instance of a class, whose methods need their object.
  return { name, shape: (option, endpoint) => shape.call(stage, option, endpoint), create };
}

function waiting(run: StageMiddleware): StageMiddleware {
  return async (ctx, next) => {
    /** The promises of `next` that are pending. A second call of it is refused. */
    const open = new Set<Promise<void>>();
    const begin = (): Promise<void> => {
      const rest = next();
      const close = (): void => void open.delete(rest);
      open.add(rest);
      rest.then(close, close);
      return rest;
    };
    try {
      const ended: unknown = run(ctx, begin);
      // A stage that returns no promise waited for none, not even for one that has failed by now.
      if (!(ended instanceof Promise)) await Promise.all(open);
      await ended;
    } catch (error) {
      await Promise.allSettled(open);
      throw error;
    }
    await Promise.all(open);
  };
}
