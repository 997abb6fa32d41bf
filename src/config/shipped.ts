import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../lib/package-root.js';
import { readRegular } from '../yaml/regular-file.js';

/** The facts of a shipped manifest by which another provider's address or key is recognized. */
export interface Shipped {
  name: string;
  /** The host and port of its address. */
  host: string | undefined;
  /** Its codec of chat. */
  codec: string | undefined;
  key_prefixes: readonly string[];
  /** The names that public catalogues have for the provider. */
  catalogue: readonly string[];
  /** Whether the IDs of all its models have a vendor in front. */
  has_vendors: boolean;
}

/** Reads these facts of all shipped manifests from their lines: to load them takes far longer. */
export async function readShippedFacts(): Promise<Shipped[]> {
  const folder = join(packageRoot, 'providers');
  const names = (await readdir(folder)).flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? []);
  return Promise.all(
    names.map(async (name) => factsOf(name, await readRegular(join(folder, `${name}.yaml`)))),
  );
}

function factsOf(name: string, text: string): Shipped {
  return {
    name,
    host: /^base_url: ["']?https?:\/\/([\w.:-]+)/m.exec(text)?.[1],
    codec: /^ {2}chat: \{[^\n]*\bcodec: ([\w-]+)/m.exec(text)?.[1],
    key_prefixes: /^ {2}key_prefixes: \[([^\]\n]+)\]/m.exec(text)?.[1]?.split(/,\s*/) ?? [],
    catalogue: /^catalogue:\s*\[([^\]]+)\]/m.exec(text)?.[1]?.match(/[^\s,]+/g) ?? [],
    has_vendors: /^model_example: [^\n]*\//m.test(text),
  };
}
