import { GatewayError } from '../../core/errors.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ChatMessage } from '../../schema-types/chat-completion.js';

/** A message of a call, or a part of one, in the name of a field. */
const PLACE = /^messages\[(\d{1,9})\](?:\.content\[(\d{1,9})\])?/u;
/** Begins the names of fields of `ChatCall.original`, which are the client's own. */
const ORIGINAL = 'original.';

/** The names of a call's fields in the format of its client, for errors and headers. */
export class ClientNames {
  readonly #places = new Map<object, string>();
  #messages: readonly ChatMessage[] = [];

  /** `words` maps the name of a field in the call to its name in the client's format. */
  constructor(private readonly words: ReadonlyMap<string, string>) {}

  /** Records the field of the client's body from which a message, or a part of one, is made. */
  place<Made extends object>(made: Made, field: string): Made {
    if (!this.#places.has(made)) this.#places.set(made, field);
    return made;
  }

  /** Records that a message or part is made from the field from which `other` is made. */
  placeAs<Made extends object>(other: object, made: Made): Made {
    const field = this.#places.get(other);
    return field === undefined ? made : this.place(made, field);
  }

  /** Runs `read` on the messages of a call. Its errors name the client's fields. */
  reading<Read>(messages: readonly ChatMessage[], read: () => Read): Read {
    this.#messages = messages;
    try {
      return read();
    } catch (error) {
      throw this.ofError(error);
    }
  }

  /** The client's name of an ignored field. */
  ofIgnored(name: string): string {
    return this.words.get(name) ?? name;
  }

  /** The client's name of a field at fault. */
  ofField(param: string): string {
    if (param.startsWith(ORIGINAL)) return param.slice(ORIGINAL.length);
    const word = this.words.get(param);
    if (word !== undefined) return word;
    const [place, message, part] = PLACE.exec(param) ?? [];
    if (place !== undefined) return this.#placeOf(Number(message), Number(part)) ?? param;
    const [head = ''] = /^\w*/u.exec(param) ?? [];
    return this.words.get(head) ?? param;
  }

  #placeOf(message: number, part: number): string | undefined {
    const at = this.#messages[message];
    if (!at) return undefined;
    const made = Array.isArray(at.content) ? at.content[part] : undefined;
    return (made && this.#places.get(made)) ?? this.#places.get(at);
  }

  /** The error with the client's name of the field at fault, in its message too. */
  ofError(error: unknown): unknown {
    if (!(error instanceof GatewayError) && !(error instanceof UpstreamError)) return error;
    const { param } = error;
    if (param === null || param === undefined) return error;
    const own = this.ofField(param);
    if (own === param) return error;
    const message = error.message.replace(param, () => own);
    if (error instanceof GatewayError) {
      const { code, headers, status } = error;
      return new GatewayError(code, message, { param: own, headers, status, cause: error });
    }
    const { fault, retry_after, isQuoted, status, codes } = error;
    return new UpstreamError(fault, message, retry_after, {
      param: own,
      isQuoted,
      codes,
      cause: error,
      ...(status !== undefined && { status }),
    });
  }
}
