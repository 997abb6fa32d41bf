import type { Bill } from '../../billing/bill.js';
import { believableSeconds } from './price.js';
import type { Segment, TranscriptFormat, TranscriptionCall, TranscriptReply } from './codec.js';

/** The media types of transcripts that are not JSON. */
export const TEXT_TYPES: Partial<Record<TranscriptFormat, string>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

/** A transcript as text. */
export function transcriptText({ text, segments = [] }: TranscriptReply, format: string): string {
  if (format === 'srt') {
    const cues = segments.map((one, at) => `${at + 1}\n${cue(one, ',')}\n`);
    return cues.join('\n');
  }
  if (format === 'vtt')
    return ['WEBVTT\n', ...segments.map((one) => `${cue(one, '.')}\n`)].join('\n');
  return `${text}\n`;
}

function cue({ start, end, text }: Segment, point: string): string {
  return `${clock(start, point)} --> ${clock(end, point)}\n${text.trim()}`;
}

/** `01:02:03.004` */
function clock(seconds: number, point: string): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const rest = String(ms % 1_000).padStart(3, '0');
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60];
  return `${parts.map(two).join(':')}${point}${rest}`;
}

/** A transcript as JSON, with its usage. */
export function transcriptBody(
  reply: TranscriptReply,
  { format, task }: TranscriptionCall,
  bill: Bill,
): object {
  const { text, language = '', segments = [], words } = reply;
  const usage = usageOf(bill);
  if (format === 'json') return { text, usage };
  const duration = believableSeconds(reply.duration) ?? bill.counts?.audio_seconds ?? 0;
  return { task, language, duration, text, segments, ...(words && { words }), usage };
}

function usageOf({ usage, counts }: Bill): object {
  const { prompt_tokens, completion_tokens, audio_input_tokens: audio_tokens } = usage;
  const total_tokens = prompt_tokens + completion_tokens;
  if (total_tokens === 0) return { type: 'duration', seconds: counts?.audio_seconds ?? 0 };
  return {
    type: 'tokens',
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    total_tokens,
    ...(audio_tokens !== undefined && {
      input_token_details: { audio_tokens, text_tokens: prompt_tokens - audio_tokens },
    }),
  };
}
