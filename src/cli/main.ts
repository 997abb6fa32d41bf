#!/usr/bin/env node
// Imported first, so that a SIGHUP during the start does not end the process.
import './hangups.js';
import { sentence } from './command.js';
import { runProgram } from './program.js';

// A reader of standard output may close it early, as `head` does. That is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = 1;
  process.stderr.write(`tollgate: standard output cannot be written: ${sentence(error)}\n`);
});

await runProgram(process.argv.slice(2));
