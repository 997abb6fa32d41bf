import cluster, { type Worker } from 'node:cluster';
import type { Metrics } from '../telemetry/metrics/metrics.js';
import type { MetricValues } from '../telemetry/metrics/prometheus.js';
import { WorkerMetrics } from '../telemetry/metrics/worker-metrics.js';

/** A worker whose event loop is blocked for longer counts as it did before. */
const ANSWER_MS = 3_000;

/** What parent and worker say to each other, in either direction. */
interface Message {
  tollgate: 'metrics';
  /** The question that the answer belongs to. */
  id: number;
  values?: MetricValues;
}

/** Answers the parent's questions for the metrics of this worker. */
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

/** The parent may be gone by now. */
function send(message: Message): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Reads the metrics of all workers, added up. */
export async function readWorkers(): Promise<() => Promise<string>> {
  const metrics = await WorkerMetrics.open();
  let asked = 0;
  return () => {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    asked += 1;
    const id = asked;
    return metrics.text(
      workers.map((worker) => ({ id: worker.id, values: () => ask(worker, id) })),
    );
  };
}

function ask(worker: Worker, id: number): Promise<MetricValues> {
  return new Promise((resolve, reject) => {
    const over = (values?: MetricValues): void => {
      clearTimeout(timer);
      worker.off('message', hear);
      worker.off('exit', gone);
      if (values) resolve(values);
      else reject(new Error('The worker has not answered.'));
    };
    const gone = (): void => over();
    const hear = (message: unknown): void => {
      if (isMetrics(message) && message.id === id) over(message.values);
    };
    const timer = setTimeout(gone, ANSWER_MS);
    worker.on('message', hear).once('exit', gone);
    if (worker.isConnected()) worker.send({ tollgate: 'metrics', id });
    else over();
  });
}

function isMetrics(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'tollgate' in message;
}
