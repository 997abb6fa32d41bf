import cluster, { type Worker } from 'node:cluster';
import type { Metrics } from '../telemetry/metrics/metrics.js';
import type { MetricValues } from '../telemetry/metrics/prometheus.js';
import { WorkerMetrics } from '../telemetry/metrics/worker-metrics.js';

/** A worker whose event loop is blocked for longer counts with its earlier values. */
const ANSWER_MS = 3_000;

/** A message between parent and worker: a request without `values`, or its response. */
interface Message {
  tollgate: 'metrics';
  /** The ID of the request, which its response repeats. */
  id: number;
  values?: MetricValues;
}

/** Responds to the parent's requests for the metrics of this worker. */
export function answerParent(metrics: Metrics): void {
  process.on('message', (message: unknown) => {
    if (!isMetrics(message)) return;
    const { id } = message;
    void metrics.values().then(
      (values) => send({ tollgate: 'metrics', id, values }),
      () => send({ tollgate: 'metrics', id }),
    );
  });
}

/** Sends a message to the parent, which may have ended. */
function send(message: Message): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Reads the metrics of all workers, added up. */
export async function readWorkers(): Promise<() => Promise<string>> {
  const metrics = await WorkerMetrics.open();
  let last_id = 0;
  return () => {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    last_id += 1;
    const id = last_id;
    return metrics.text(
      workers.map((worker) => ({ id: worker.id, values: () => ask(worker, id) })),
    );
  };
}

function ask(worker: Worker, id: number): Promise<MetricValues> {
  return new Promise((resolve, reject) => {
    const finish = (values?: MetricValues): void => {
      clearTimeout(timer);
      worker.off('message', hear);
      worker.off('exit', gone);
      if (values) resolve(values);
      else reject(new Error('The worker has not answered.'));
    };
    const gone = (): void => finish();
    const hear = (message: unknown): void => {
      if (isMetrics(message) && message.id === id) finish(message.values);
    };
    const timer = setTimeout(gone, ANSWER_MS);
    worker.on('message', hear).once('exit', gone);
    if (worker.isConnected()) worker.send({ tollgate: 'metrics', id });
    else finish();
  });
}

function isMetrics(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'tollgate' in message;
}
