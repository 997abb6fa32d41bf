import { expect } from 'chai';
import { pino } from 'pino';
import { until } from '../../helpers/until.js';
import { play, type Step } from '../../helpers/upstream.js';
import { startVideoGateway, type VideoGateway } from './helpers/video-gateway.js';
import { REEL } from './helpers/video-upstream.js';

const CUT: Step = {
  headers: { 'content-type': 'video/mp4', 'content-length': '1000' },
  chunks: [REEL.subarray(0, 500)],
  destroyAfter: 1,
};

describe('a video that its upstream cuts', () => {
  let studio: VideoGateway;
  let lines: string[];
  beforeEach(async () => {
    lines = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    studio = await startVideoGateway({ log });
    studio.lab.onPoll = () => ({ state: 'done', reels: ['/reels/a'] });
    studio.lab.onReel = (_, response) => play(CUT, response);
  });
  afterEach(() => studio.close());

  /** The lines about a path that breaks off in the middle. */
  async function linesOf(path: string): Promise<Record<string, unknown>[]> {
    lines = [];
    const headers = { authorization: `Bearer ${studio.secret}` };
    const response = await fetch(studio.url + path, { headers });
    expect(response.status).to.equal(200);
    const cut: unknown = await response.arrayBuffer().catch((error: unknown) => error);
    expect(cut).to.be.instanceOf(Error);
    await until(() => lines.some((line) => line.includes('"msg":"GET ')), 'the access log has it');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** In the words of docs/logging.md. */
  function expectWarnings([fault, access, ...more]: Record<string, unknown>[]): void {
    expect(fault).to.include({ level: 40, provider: 'lab', msg: 'an answer was cut' });
    expect(access).to.include({ level: 40, status: 200, code: 'upstream_error' });
    expect(access?.request_id).to.equal(fault?.request_id);
    expect(more).to.deep.equal([]);
  }

  it("is an upstream's fault in the log, not the gateway's, nor a good answer", async () => {
    const { data } = await studio.result(await studio.begin());
    expectWarnings(await linesOf(data?.[0]?.url ?? ''));
  });

  it('is the same at the address of the Videos API', async () => {
    const id = await studio.begin();
    expectWarnings(await linesOf(`/v1/videos/video_${id}/content`));
  });
});
