import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FILES = 20;
const MODELS_PER_FILE = 25;
const RUNS = 5;

const MAIN = `include: [models/*.yaml]
owners: { acme: { name: Acme } }
providers:
  openai: { api_key: sk-bench }
  lab: { uses: vllm, base_url: http://127.0.0.1:9/v1 }
`;

/** How long `tollgate check` takes, start to end, for 500 models in 20 included files. */
export function checkLine(folder: string): string {
  mkdirSync(join(folder, 'models'), { recursive: true });
  writeFileSync(join(folder, 'gateway.yaml'), MAIN);
  for (let file = 0; file < FILES; file += 1) {
    const models = Array.from({ length: MODELS_PER_FILE }, (_, at) => modelOf(`m-${file}-${at}`));
    writeFileSync(join(folder, 'models', `${file}.yaml`), `models:\n${models.join('')}`);
  }
  const times_ms = Array.from({ length: RUNS }, () => checked(folder)).toSorted((a, b) => a - b);
  const [least = 0] = times_ms;
  const median = times_ms[Math.floor(RUNS / 2)] ?? 0;
  return `check of 500 models in 20 files: ${least} ms at the least, median ${median} ms`;
}

function modelOf(id: string): string {
  return `  ${id}:
    owner: acme
    capabilities: [chat, vision, tools]
    upstreams:
      - { provider: openai, model: gpt-${id} }
      - { provider: lab, model: llama-${id}, set: { temperature: 0.2 } }
    limits: { max_tokens: 16384, context: 128000 }
    price: { input_per_million: 0.15, output_per_million: 0.60 }
`;
}

function checked(folder: string): number {
  const program = resolve('dist/src/cli/main.js');
  const begun_ms = performance.now();
  const args = [program, 'check', join(folder, 'gateway.yaml')];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
  return Math.round(performance.now() - begun_ms);
}
