import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import type { Configuration } from '../../src/core/configuration.js';
import { check } from '../../src/gateway/check.js';
import { makePlace } from '../helpers/cli.js';
import { CHART, chartHash, headOf, RENDERED } from './helpers/chart.js';
import { lastOf, stagesOf } from './helpers/dockerfile.js';

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  failureThreshold: number;
}
interface Container {
  args: string[];
  image: string;
  ports: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  lifecycle: { preStop: { exec: { command: string[] } } };
  securityContext: { readOnlyRootFilesystem: boolean; allowPrivilegeEscalation: boolean };
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
}
interface Manifest {
  kind: string;
  metadata: { name: string };
  data: { 'gateway.yaml': string };
  spec: {
    maxUnavailable: number;
    replicas: number;
    serviceName: string;
    ports: { targetPort: string }[];
    selector: Record<string, string> & { matchLabels: Record<string, string> };
    volumeClaimTemplates: { metadata: { name: string } }[];
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        containers: Container[];
        terminationGracePeriodSeconds: number;
        securityContext: { runAsUser: number; runAsNonRoot: boolean };
      };
    };
  };
}

const read = (name: string): string => readFileSync(join(CHART, name), 'utf8');
const rendered = readFileSync(RENDERED, 'utf8');
const manifests = parseAllDocuments(rendered).map((one) => one.toJS() as Manifest);
const ofKind = (kind: string): Manifest[] => manifests.filter((one) => one.kind === kind);
const [gateways] = ofKind('StatefulSet');
const { spec: pod } = gateways!.spec.template;
const [container] = pod.containers;
const image = stagesOf(readFileSync(join(CHART, '../Dockerfile'), 'utf8')).at(-1)!;

async function configured(): Promise<Configuration> {
  const place = await makePlace('');
  const file = join(place.folder, 'gateway.yaml');
  writeFileSync(file, ofKind('ConfigMap')[0]!.data['gateway.yaml']);
  const env = { TOLLGATE_PUBLIC_URL: 'https://ai.example.com', TOLLGATE_STORE: 'postgres://u@h/d' };
  const { configuration, faults } = await check(file, env);
  await place.close();
  if (!configuration) throw new Error(JSON.stringify(faults));
  return configuration;
}

describe('the Helm chart', () => {
  let configuration: Configuration;
  before(async () => {
    configuration = await configured();
  });

  it('was rendered as it is now', () => {
    expect(rendered.startsWith(headOf(chartHash())), 'run `npm run test:helm`').to.equal(true);
  });

  it('takes its own values, and none that it does not know', () => {
    const isValid = new Ajv().compile(JSON.parse(read('values.schema.json')) as object);
    const values = parse(read('values.yaml')) as object;
    expect(isValid(values), JSON.stringify(isValid.errors)).to.equal(true);
    expect(isValid({ ...values, replica: 2 })).to.equal(false);
  });

  it('is of the version of the program', () => {
    const { version } = JSON.parse(readFileSync(join(CHART, '../../package.json'), 'utf8')) as {
      version: string;
    };
    expect(parse(read('Chart.yaml'))).to.include({ version, appVersion: version });
  });

  it('runs two gateways with a disk each, of which one at most is taken away', () => {
    expect(gateways?.spec.replicas).to.equal(2);
    const [{ metadata: claim }] = gateways!.spec.volumeClaimTemplates as [{ metadata: object }];
    expect(claim).to.deep.equal({ name: 'data' });
    const [budget] = ofKind('PodDisruptionBudget');
    expect(budget?.spec.maxUnavailable).to.equal(1);
    expect(budget?.spec.selector).to.deep.equal(gateways?.spec.selector);
    const services = ofKind('Service');
    expect(services.map(({ metadata }) => metadata.name)).to.include(gateways!.spec.serviceName);
    for (const { spec } of services) {
      expect(gateways!.spec.template.metadata.labels).to.include(spec.selector);
      expect(spec.ports.map(({ targetPort }) => targetPort)).to.deep.equal(['http']);
    }
  });

  it('mounts configuration and journal where image and file have them', () => {
    const { listen, journal, store } = configuration;
    expect(container?.ports).to.deep.equal([{ name: 'http', containerPort: listen.port }]);
    expect(listen).to.include({ host: '0.0.0.0', port: Number(lastOf(image, 'EXPOSE')) });
    expect(store.url).to.equal('postgres://u@h/d');
    const paths = container!.volumeMounts.map(({ name, mountPath }) => [name, mountPath]);
    expect(Object.fromEntries(paths)).to.deep.equal({
      configuration: lastOf(image, 'WORKDIR'),
      data: lastOf(image, 'VOLUME'),
      tmp: '/tmp',
    });
    expect(journal.startsWith(`${lastOf(image, 'VOLUME')}/`)).to.equal(true);
  });

  it('gives the container little, and no root', () => {
    expect(pod.securityContext).to.include({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container?.securityContext).to.deep.include({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('drains a gateway before it is killed, and waits for the store at its start', () => {
    const { drain_delay_ms, drain_ms } = configuration;
    const [program, delay] = container!.lifecycle.preStop.exec.command;
    expect(program).to.equal('sleep');
    const stop_ms = Number(delay) * 1_000 + drain_delay_ms + drain_ms + 10_000;
    expect(pod.terminationGracePeriodSeconds * 1_000).to.be.greaterThan(stop_ms);
    const { startupProbe, livenessProbe, readinessProbe } = container!;
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).to.be.greaterThan(60);
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).to.deep.equal(['/healthz', '/healthz', '/readyz']);
    expect(container?.args).to.deep.equal(['serve']);
  });
});
