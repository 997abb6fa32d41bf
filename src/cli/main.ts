#!/usr/bin/env node
// Imported first, so that a SIGHUP during the start does not end the process.
import './hangups.js';
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.js';
import { command, sentence } from './command.js';

const { version, description } = JSON.parse(
  readFileSync(join(packageRoot, 'package.json'), 'utf8'),
) as { version: string; description: string };

const program = command('tollgate', description, 'tollgate serve').version(version);

/** The commands in the order of the help. A command's file is loaded only when it is needed. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.js')).initCommand(),
  serve: async () => (await import('./serve.js')).serveCommand(),
  check: async () => (await import('./check.js')).checkCommand(),
  schema: async () => (await import('./schema.js')).schemaCommand(),
  explain: async () => (await import('./explain.js')).explainCommand(),
  diff: async () => (await import('./diff.js')).diffCommand(),
  probe: async () => (await import('./probe.js')).probeCommand(),
  account: async () => (await import('./account.js')).accountCommand(),
  credit: async () => (await import('./credit.js')).creditCommand(),
  refund: async () => (await import('./refund.js')).refundCommand(),
  key: async () => (await import('./key.js')).keyCommand(),
  ledger: async () => (await import('./ledger.js')).ledgerCommand(),
  requests: async () => (await import('./requests.js')).requestsCommand(),
  usage: async () => (await import('./usage.js')).usageCommand(),
  status: async () => (await import('./status.js')).statusCommand(),
  'sign-in-link': async () => (await import('./sign-in-link.js')).signInLinkCommand(),
  task: async () => (await import('./task.js')).taskCommand(),
  token: async () => (await import('./token.js')).tokenCommand(),
  audit: async () => (await import('./audit.js')).auditCommand(),
  verify: async () => (await import('./verify.js')).verifyCommand(),
  backup: async () => (await import('./backup.js')).backupCommand(),
  migrate: async () => (await import('./migrate.js')).migrateCommand(),
  completion: async () => (await import('./completion.js')).completionCommand(),
};

const [, , first_argument = ''] = process.argv;
// The help, the completion and the hint for an unknown command name all commands.
const needsAll = !Object.hasOwn(COMMANDS, first_argument) || first_argument === 'completion';
const needed = Object.entries(COMMANDS).filter(([name]) => needsAll || name === first_argument);
const loaded = await Promise.all(needed.map(([, loadCommand]) => loadCommand()));
for (const subcommand of loaded) program.addCommand(subcommand);

// A reader of standard output may close it early, as `head` does. That is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = 1;
  process.stderr.write(`tollgate: standard output cannot be written: ${sentence(error)}\n`);
});

await program.parseAsync();
