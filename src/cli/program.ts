import { CommanderError, type Command } from 'commander';
import { packageFacts } from '../lib/package-root.js';
import { command } from './command.js';
import { commandIo } from './command-io.js';

const { version, description } = packageFacts();

/** The commands in the order of the help. A command's file is loaded only when it is needed. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.js')).initCommand(),
  serve: async () => (await import('./serve.js')).serveCommand(),
  check: async () => (await import('./check.js')).checkCommand(),
  schema: async () => (await import('./schema.js')).schemaCommand(),
  explain: async () => (await import('./explain.js')).explainCommand(),
  diff: async () => (await import('./diff.js')).diffCommand(),
  probe: async () => (await import('./probe.js')).probeCommand(),
  prices: async () => (await import('./prices.js')).pricesCommand(),
  connect: async () => (await import('./connect.js')).connectCommand(),
  account: () => ofActions('account'),
  credit: () => ofActions('credit'),
  refund: () => ofActions('refund'),
  key: () => ofActions('key'),
  ledger: () => ofActions('ledger'),
  requests: async () => (await import('./requests.js')).requestsCommand(),
  usage: async () => (await import('./usage.js')).usageCommand(),
  status: async () => (await import('./status.js')).statusCommand(),
  box: () => ofActions('box'),
  provider: () => ofActions('provider'),
  'sign-in-link': () => ofActions('sign-in-link'),
  task: () => ofActions('task'),
  token: () => ofActions('token'),
  audit: () => ofActions('audit'),
  verify: async () => (await import('./verify.js')).verifyCommand(),
  reconcile: async () => (await import('./reconcile.js')).reconcileCommand(),
  backup: async () => (await import('./backup.js')).backupCommand(),
  copy: async () => (await import('./copy.js')).copyCommand(),
  migrate: async () => (await import('./migrate.js')).migrateCommand(),
  completion: async () => (await import('./completion.js')).completionCommand(),
};

/** A command that is made from the table of actions. */
async function ofActions(word: string): Promise<Command> {
  return (await import('./action-command.js')).actionCommand(word);
}

/** Runs a command. A failure is printed, and the exit status set. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const [first = ''] = args;
  // The help, the completion and the hint for an unknown command name all commands.
  const needsAll = !Object.hasOwn(COMMANDS, first) || first === 'completion';
  const needed = Object.entries(COMMANDS).filter(([name]) => needsAll || name === first);
  const program = command('tollgate', description, 'tollgate serve').version(version);
  const loaded = await Promise.all(needed.map(([, loadCommand]) => loadCommand()));
  for (const subcommand of loaded) program.addCommand(subcommand);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // The parser has printed the help or what is wrong with the arguments.
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) commandIo().exit_status = error.exitCode;
  }
}
