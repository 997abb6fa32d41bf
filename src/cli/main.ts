#!/usr/bin/env node
// Imported first, so that a SIGHUP during the start does not end the process.
import './hangups.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.js';
import { accountCommand } from './account.js';
import { checkCommand } from './check.js';
import { command, sentence } from './command.js';
import { creditCommand } from './credit.js';
import { diffCommand } from './diff.js';
import { explainCommand } from './explain.js';
import { keyCommand } from './key.js';
import { ledgerCommand } from './ledger.js';
import { migrateCommand } from './migrate.js';
import { probeCommand } from './probe.js';
import { serveCommand } from './serve.js';
import { signInLinkCommand } from './sign-in-link.js';
import { taskCommand } from './task.js';
import { verifyCommand } from './verify.js';

const { version, description } = JSON.parse(
  readFileSync(join(packageRoot, 'package.json'), 'utf8'),
) as { version: string; description: string };

const program = command('tollgate', description, 'tollgate serve').version(version);

for (const make of [
  serveCommand,
  checkCommand,
  explainCommand,
  diffCommand,
  probeCommand,
  accountCommand,
  creditCommand,
  keyCommand,
  ledgerCommand,
  signInLinkCommand,
  taskCommand,
  verifyCommand,
  migrateCommand,
]) {
  program.addCommand(make());
}

// The reader of standard output may close it early, as `head` does. That is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = 1;
  process.stderr.write(`tollgate: this cannot be written: ${sentence(error)}\n`);
});

await program.parseAsync();
