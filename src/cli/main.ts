#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../paths.js';
import { accountCommand } from './account.js';
import { checkCommand } from './check.js';
import { creditCommand } from './credit.js';
import { keyCommand } from './key.js';
import { ledgerCommand } from './ledger.js';
import { migrateCommand } from './migrate.js';
import { serveCommand } from './serve.js';
import { verifyCommand } from './verify.js';

const { version, description } = JSON.parse(
  readFileSync(join(packageRoot, 'package.json'), 'utf8'),
) as { version: string; description: string };

const program = new Command('tollgate')
  .description(description)
  .version(version)
  .showSuggestionAfterError()
  .showHelpAfterError('Run the command with --help to see what it takes.');

for (const command of [
  serveCommand,
  checkCommand,
  accountCommand,
  creditCommand,
  keyCommand,
  ledgerCommand,
  verifyCommand,
  migrateCommand,
]) {
  program.addCommand(command());
}

await program.parseAsync();
