import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';

/** The faults of an endpoint with these stages, as `line:column code message; hint`. */
export async function stageFaults(stages: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-stage-'));
  const file = join(folder, 'gateway.yaml');
  await writeFile(
    file,
    `owners: { me: { name: Me } }
providers: { simulator: {} }
models: { sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free } }
endpoints:
  chat: { at: "POST /v1/chat/completions", stages: [${stages}] }
`,
  );
  const { faults } = await check(file, {});
  await rm(folder, { recursive: true, force: true });
  // The other endpoints of chat have no such stage, which is a warning for a filter.
  const own = faults.filter(({ code }) => code !== 'partial_filter');
  return own.map(
    ({ line, column, code, message, hint }) => `${line}:${column} ${code} ${message}; ${hint}`,
  );
}
