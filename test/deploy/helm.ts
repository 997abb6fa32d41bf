import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CHART, chartHash, headOf, RENDERED } from './helpers/chart.js';

/**
 * Checks the Helm chart with Helm itself, and what it makes with the schemas of Kubernetes. Writes
 * what it makes of its own values to a fixture, which the suite looks at: no Debian has Helm. Needs
 * Go, Python and their registries; `TOLLGATE_TEST_HELM=FOLDER` keeps the programs.
 */
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const SCHEMAS = 'kubernetes-validate==1.37.0';
const CLUSTERS = ['1.27', '1.31', '1.35'];
const CHOSEN = [
  '--set=ingress.host=ai.example.com,ingress.className=nginx,ingress.tlsSecret=tls',
  '--set=ingress.annotations.owner=me,podAnnotations.owner=me,nodeSelector.disk=fast',
  '--set=journal.storageClass=fast,image.tag=1.2.3,replicas=1,publicUrl=https://ai.example.com',
  '--set-json=tolerations=[{"key":"gpu","operator":"Exists"}]',
];

const folder = process.env.TOLLGATE_TEST_HELM ?? mkdtempSync(join(tmpdir(), 'tollgate-helm-'));
const run = (program: string, args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, GOBIN: folder } });

function main(): void {
  mkdirSync(folder, { recursive: true });
  run('go', ['install', HELM]);
  run('python3', ['-m', 'venv', join(folder, 'python')]);
  run(join(folder, 'python/bin/pip'), ['install', '--quiet', SCHEMAS]);
  process.stdout.write(run(join(folder, 'helm'), ['lint', '--strict', CHART]));
  for (const version of CLUSTERS) {
    for (const chosen of [[], CHOSEN]) validate(render(version, chosen), version);
  }
  mkdirSync(dirname(RENDERED), { recursive: true });
  writeFileSync(RENDERED, headOf(chartHash()) + render('1.31', []));
}

function render(version: string, chosen: readonly string[]): string {
  const args = ['template', 'tollgate', CHART, `--kube-version=${version}`, ...chosen];
  return run(join(folder, 'helm'), args);
}

function validate(manifests: string, version: string): void {
  const file = join(folder, 'manifests.yaml');
  writeFileSync(file, manifests);
  const program = join(folder, 'python/bin/kubernetes-validate');
  process.stdout.write(run(program, ['--strict', '-k', version, file]));
}

try {
  main();
} finally {
  if (!process.env.TOLLGATE_TEST_HELM) rmSync(folder, { recursive: true, force: true });
}
