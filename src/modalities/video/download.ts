import { ClientDisconnected, GatewayError } from '../../core/errors.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { Services } from '../../pipeline/services.js';
import type { Answer, RoutedTask } from '../../pipeline/work.js';
import type { Task } from '../../store/tasks/task-types.js';
import { startVideo, sendVideo } from './content.js';
import { videoId } from './formats/openai-video-object.js';
import { linkTo } from './links.js';
import { poll } from './poll.js';
import { NOTHING_CHARGED, chargedTask, taskBill, unknown } from './result.js';

/**
 * Streams the video of a task to a client of an API without a separate result: the bytes are the
 * result. So the task is charged, unless it was charged before, when the first bytes have arrived
 * from the upstream and before any are sent. A HEAD request is not charged. Throws `GatewayError`:
 * 404 if there is no video yet, 502 if its bytes do not arrive.
 */
export async function download(
  { task: routed }: RoutedTask,
  request_id: string,
  client: ClientConnection,
  services: Services,
): Promise<Answer> {
  const { task, fault } = await poll(routed, services);
  if (fault) throw unknown(fault);
  if (task.status !== 'COMPLETED') throw notThere(task);
  if (task.videos > 1) throw several(task, services);
  const video = await startVideo({ task, index: 0 }, request_id, client, services);
  const bill = client.is_head ? NOTHING_CHARGED : taskBill(task);
  return {
    provider: task.provider,
    streams: false,
    finish: async () => {
      if (client.disconnected) throw new ClientDisconnected();
      return bill;
    },
    close: async (receipt) => {
      chargedTask(bill, receipt);
      await sendVideo(video, client, services);
    },
    body: () => undefined,
  };
}

function notThere(task: Task): GatewayError {
  const isFailed = task.status === 'FAILED';
  const why = isFailed ? 'it has failed' : 'it is not ready yet';
  const message = `There is nothing to download of the video "${videoId(task)}": ${why}.`;
  return new GatewayError('not_found', message, { param: 'videoID' });
}

/** The refusal of a task with several videos: this API can name only one. */
function several(task: Task, services: Services): GatewayError {
  const base = { endpoint: undefined, path: '', model: task.model };
  const path = linkTo('video.result', { requestID: task.id }, base, services);
  const message = `The task has made ${task.videos} videos: GET ${path} has the address of each.`;
  return new GatewayError('invalid_request', message, { param: 'videoID' });
}
