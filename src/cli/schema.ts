import { Argument, type Command } from 'commander';
import { acting, command } from './command.js';
import { printLine } from './print.js';

/** `tollgate schema [gateway|provider]` */
export function schemaCommand(): Command {
  const kind = new Argument('[kind]', 'gateway for gateway.yaml, provider for a manifest');
  return command(
    'schema',
    'print the JSON Schema by which an editor completes and checks a file',
    'tollgate schema > gateway.schema.json',
  )
    .addArgument(kind.choices(['gateway', 'provider']).default('gateway'))
    .option('--json', 'the same: a schema is JSON')
    .action(acting(print));
}

/** The file as it ships: it refers to no other, so a copy works anywhere. */
async function print(kind: string): Promise<void> {
  const { shippedSchemaText } = await import('../lib/schemas.js');
  printLine(shippedSchemaText(kind).trimEnd());
}
