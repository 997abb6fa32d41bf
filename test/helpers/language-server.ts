import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PROGRAM = fileURLToPath(
  new URL('../../node_modules/yaml-language-server/bin/yaml-language-server', import.meta.url),
);

/** Loaded before the server: what reaches for the network says so on standard error, and fails. */
const OFFLINE = `data:text/javascript,${encodeURIComponent(`
  import net from 'node:net';
  net.Socket.prototype.connect = () => {
    process.stderr.write('It reached for the network.');
    throw new Error('offline');
  };
`)}`;

/** What one answer may take: it reads a schema of some thousand lines the first time. */
const ANSWER_MS = 60_000;

interface Message {
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string };
}

interface Diagnostic {
  message: string;
  range: { start: { line: number; character: number } };
}

export interface Completion {
  label: string;
  insertText?: string;
  documentation?: string | { value: string };
}

interface Published {
  uri: string;
  diagnostics: Diagnostic[];
}

/** The settings that an editor sends: no schema store and nothing fetched from anywhere. */
const SETTINGS: Record<string, unknown> = {
  yaml: {
    hover: true,
    completion: true,
    validate: true,
    format: { enable: false },
    schemaStore: { enable: false },
    kubernetesCRDStore: { enable: false },
  },
  'redhat.telemetry': { enabled: false },
};

/** The real yaml-language-server, spoken to as an editor does: LSP on standard input and output. */
export class LanguageServer {
  readonly #program: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #published = new Map<string, (diagnostics: Diagnostic[]) => void>();
  /** Methods that the server asked the editor for, such as `custom/schema/content`. */
  readonly asked: string[] = [];
  stderr = '';
  #buffer = Buffer.alloc(0);
  #id = 0;

  constructor() {
    this.#program = spawn(process.execPath, ['--import', OFFLINE, PROGRAM, '--stdio']);
    this.#program.stdout.on('data', (bytes: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, bytes]);
      this.#readMessages();
    });
    this.#program.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
  }

  /** Says hello for the folder that the editor has open. */
  async start(folder: string): Promise<void> {
    const uri = pathToFileURL(folder).href;
    await this.#request('initialize', {
      processId: process.pid,
      rootUri: uri,
      capabilities: {
        textDocument: { hover: { contentFormat: ['markdown'] }, publishDiagnostics: {} },
        workspace: { configuration: true },
      },
      workspaceFolders: [{ uri, name: 'test' }],
    });
    this.#send({ method: 'initialized', params: {} });
  }

  /** Opens a file with the text it has on disk, or another; answers its diagnostics. */
  async open(path: string, text = readFileSync(path, 'utf8')): Promise<Diagnostic[]> {
    const uri = pathToFileURL(path).href;
    const found = new Promise<Diagnostic[]>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no diagnostics of ${path}`)), ANSWER_MS);
      this.#published.set(uri, (diagnostics) => {
        clearTimeout(late);
        resolve(diagnostics);
      });
    });
    const textDocument = { uri, languageId: 'yaml', version: 1, text };
    this.#send({ method: 'textDocument/didOpen', params: { textDocument } });
    return found;
  }

  close(path: string): void {
    const textDocument = { uri: pathToFileURL(path).href };
    this.#send({ method: 'textDocument/didClose', params: { textDocument } });
  }

  /** The Markdown that the editor shows over a place (lines and columns from 0). */
  async hover(path: string, line: number, character: number): Promise<string> {
    const answer = await this.#at('hover', path, line, character);
    return (answer as { contents: { value: string } } | null)?.contents.value ?? '';
  }

  /** What the editor offers at a place (lines and columns from 0). */
  async complete(path: string, line: number, character: number): Promise<Completion[]> {
    const answer = await this.#at('completion', path, line, character);
    return (answer as { items: Completion[] } | null)?.items ?? [];
  }

  async stop(): Promise<void> {
    if (this.#program.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#program.once('exit', resolve));
    this.#program.kill('SIGKILL');
    await ended;
  }

  async #at(what: string, path: string, line: number, character: number): Promise<unknown> {
    const textDocument = { uri: pathToFileURL(path).href };
    return this.#request(`textDocument/${what}`, { textDocument, position: { line, character } });
  }

  #request(method: string, params: object): Promise<unknown> {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer to ${method}`)), ANSWER_MS);
      this.#waiting.set(id, ({ result, error }) => {
        clearTimeout(late);
        if (error) reject(new Error(error.message));
        else resolve(result);
      });
      this.#send({ id, method, params });
    });
  }

  #send(message: Message): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#program.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #readMessages(): void {
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(
        /Content-Length: (\d+)/iu.exec(this.#buffer.toString('utf8', 0, end))?.[1],
      );
      const start = end + 4;
      if (this.#buffer.length < start + length) return;
      const body = this.#buffer.toString('utf8', start, start + length);
      this.#buffer = this.#buffer.subarray(start + length);
      this.#take(JSON.parse(body) as Message);
    }
  }

  #take({ id, method, params, result, error }: Message): void {
    if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as Published;
      this.#published.get(uri)?.(diagnostics);
    } else if (method !== undefined && id !== undefined) {
      this.asked.push(method);
      this.#send({ id, result: answerTo(method, params) } as Message);
    } else if (typeof id === 'number') {
      this.#waiting.get(id)?.({ result, ...(error && { error }) });
      this.#waiting.delete(id);
    }
  }
}

/** What an editor answers: its settings, and nothing to all else. */
function answerTo(method: string, params: unknown): unknown {
  if (method !== 'workspace/configuration') return null;
  const { items } = params as { items: { section?: string }[] };
  return items.map(({ section = '' }) => SETTINGS[section] ?? {});
}
