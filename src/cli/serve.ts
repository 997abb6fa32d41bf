import cluster from 'node:cluster';
import { InvalidArgumentError, type Command } from 'commander';
import { acting, command, withConfig } from './command.js';
import { codeOf } from '../store/retry.js';
import { Unreadable } from '../yaml/unreadable.js';
import type { ServeOptions } from './load.js';

/** `tollgate serve [--config gateway.yaml] [--listen host:port] [--workers n]` */
export function serveCommand(): Command {
  return withConfig(
    command('serve', 'run the gateway', 'tollgate serve --listen 127.0.0.1:8080 --workers 2')
      .option('--listen <host:port>', 'in place of the address in the configuration')
      .option('--workers <n>', 'processes that share the address and the store', workers, 1)
      .option('--json', 'print where it serves, and the first key, as one JSON document')
      .action(acting(serve)),
  );
}

function workers(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 256) return count;
  throw new InvalidArgumentError('It must be a whole number from 1 to 256.');
}

async function serve(options: ServeOptions & { workers: number }): Promise<void> {
  try {
    await run(options);
  } catch (error) {
    throw withInitHint(error);
  }
}

/** Somebody who serves for the first time may have no file yet. */
function withInitHint(error: unknown): unknown {
  const isMissing = error instanceof Unreadable && codeOf(error.cause) === 'ENOENT';
  if (!isMissing) return error;
  return new Unreadable(`${error.message}; "tollgate init" writes one`, { cause: error.cause });
}

async function run(options: ServeOptions & { workers: number }): Promise<void> {
  // Imported here, so that the other commands start fast.
  if (options.workers > 1 && cluster.isPrimary) {
    const { superviseWorkers } = await import('./supervise.js');
    await superviseWorkers(options);
  } else {
    const { serveHere } = await import('./serve-here.js');
    await serveHere(options);
  }
}
