import type { Upstream } from '../../core/model.js';
import type { ClientConnection } from '../../http/client-connection.js';
import { operationReader } from '../../pipeline/operation.js';
import type { Services } from '../../pipeline/services.js';
import { jsonRequest, requestJson } from '../../upstream/upstream-request.js';
import { isModerationCodec, type ModerationCall, type ModerationReply } from './codec.js';

const operationOf = operationReader('moderation', isModerationCodec);

/** Sends the call to one upstream, once. Throws `UpstreamError` if that fails. */
export async function sendModeration(
  call: ModerationCall,
  upstream: Upstream,
  client: ClientConnection,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
): Promise<ModerationReply> {
  const { provider } = upstream;
  const { codec, path } = operationOf(upstream.provider);
  const wire = jsonRequest(codec.encode(call, upstream), path);
  const { answer_bytes } = configuration.limits;
  const body = await requestJson(network, provider, wire, answer_bytes, client);
  return codec.decode(body, call, upstream);
}
