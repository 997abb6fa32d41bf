import { Argument, type Command } from 'commander';
import { acting, command } from './command.js';
import { printLine } from './print.js';

/** `tollgate schema [gateway|included|provider]` */
export function schemaCommand(): Command {
  const kind = new Argument(
    '[kind]',
    'gateway for gateway.yaml, included for a file that it includes, provider for a manifest',
  );
  return command(
    'schema',
    'print the JSON Schema by which an editor completes and checks a file',
    'tollgate schema > gateway.schema.json',
  )
    .addArgument(kind.choices(['gateway', 'included', 'provider']).default('gateway'))
    .option('--json', 'the same: a schema is JSON')
    .action(acting(print));
}

/** The file as it ships. That of an included file refers to that of gateway.yaml, beside it. */
async function print(kind: string): Promise<void> {
  const { shippedSchemaText } = await import('../lib/schemas.js');
  printLine(shippedSchemaText(kind).trimEnd());
}
