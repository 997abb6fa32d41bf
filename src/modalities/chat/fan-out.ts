import { LightAbortController, type LightAbortSignal } from '../../lib/light-abort.js';
import { onceTakenUp } from '../../core/upstream-error.js';
import { shares } from '../../lib/shares.js';
import type { ChatDelta, ChatReply } from './codec.js';
import type {
  DeltaConsumer,
  DeltaSource,
  WholeChatReply,
  ChatAttempt,
  ChatReplyStream,
} from './call.js';

/** The choices that one of the calls makes: `n` of them, from index `from` on. */
interface Share {
  from: number;
  n: number;
}

type Ask = (
  part: ChatAttempt,
  signal: LightAbortSignal,
) => Promise<WholeChatReply | ChatReplyStream>;

/**
 * Requests `n` choices by several calls at once, of at most `max` each, and joins the answers. If
 * one call fails, the others are aborted and its `UpstreamError` is thrown.
 */
export async function fanOut(
  attempt: ChatAttempt,
  max: number,
  ask: Ask,
): Promise<WholeChatReply | ChatReplyStream> {
  const { client, call, visible } = attempt;
  const stop = new LightAbortController();
  client.signal.throwIfAborted();
  client.signal.addEventListener('abort', { handleEvent: () => stop.abort(client.signal.reason) });
  const parts = shares(call.n, max).map((n, at): Share => ({ from: at * max, n }));
  try {
    const asked = parts.map(({ from, n }) =>
      ask({ ...attempt, from, call: { ...call, n }, visible: { ...visible, choices: n } }, stop),
    );
    const replies = await onceTakenUp(Promise.all(asked));
    return joinedReplies(replies, parts, attempt, stop);
  } catch (error) {
    stop.abort(error);
    throw error;
  }
}

/** Joins the parts. All are of one kind, as all calls were the same. */
function joinedReplies(
  replies: readonly (WholeChatReply | ChatReplyStream)[],
  parts: readonly Share[],
  { visible }: ChatAttempt,
  stop: LightAbortController,
): WholeChatReply | ChatReplyStream {
  const [first] = replies;
  if (!first) throw new Error('No choice was asked for.');
  if (first.kind === 'chat') {
    const whole = replies.flatMap((one) => (one.kind === 'chat' ? [one.reply] : []));
    return { ...first, reply: joinReplies(whole, parts) };
  }
  const streams = replies.flatMap((one) => (one.kind === 'chat-stream' ? [one] : []));
  const rest = new JoinedStreams(streams, parts, stop);
  const begun = streams.flatMap((stream, at) => rest.read(stream.first, at));
  return { ...first, first: begun, rest, visible };
}

function joinReplies(replies: readonly ChatReply[], parts: readonly Share[]): ChatReply {
  const choices = replies.flatMap((reply, at) => {
    const from = parts[at]?.from ?? 0;
    return reply.choices.map((choice) => ({ ...choice, index: from + choice.index }));
  });
  return { choices };
}

/** Joins streams of different choices into one, in the order in which their packets arrive. */
class JoinedStreams implements DeltaSource {
  readonly #streams: readonly ChatReplyStream[];
  readonly #parts: readonly Share[];
  readonly #stop: LightAbortController;
  /** The consumer is waiting for a slow client. */
  #wait: Promise<void> | undefined;

  constructor(
    streams: readonly ChatReplyStream[],
    parts: readonly Share[],
    stop: LightAbortController,
  ) {
    this.#streams = streams;
    this.#parts = parts;
    this.#stop = stop;
  }

  /** The deltas of a stream with the indexes of the joined one. */
  read(deltas: readonly ChatDelta[], at: number): ChatDelta[] {
    const { from = 0, n = 0 } = this.#parts[at] ?? {};
    return deltas.flatMap(({ index, ...delta }) => {
      return index !== undefined && index < n ? [{ ...delta, index: from + index }] : [];
    });
  }

  async each(take: DeltaConsumer): Promise<void> {
    const give = (deltas: readonly ChatDelta[]): Promise<void> | undefined => {
      // While one stream waits for the client, the others wait for that stream.
      if (this.#wait) return this.#wait.then(() => give(deltas));
      const wait = take(deltas);
      this.#wait = wait?.finally(() => (this.#wait = undefined));
      return this.#wait;
    };
    try {
      await Promise.all(
        this.#streams.map(({ rest }, at) =>
          rest.each((deltas) => {
            const read = this.read(deltas, at);
            return read.length > 0 ? give(read) : undefined;
          }),
        ),
      );
    } catch (error) {
      this.leave();
      this.#stop.abort(error);
      throw error;
    }
  }

  leave(): void {
    for (const { rest } of this.#streams) rest.leave();
  }
}
