import type { JSX } from 'preact';
import { Choice, Field, namedOptions } from './fields.js';

const RESOLUTIONS = ['720p', '1080p', '4k'];
const MAX_SECONDS = 8;
const MAX_VIDEOS = 4;
const MAX_TEMPERATURE = 2;

/** The options of the playground by modality. A script shows the ones of the chosen model. */
export function Options({ kind }: { kind: string }): JSX.Element {
  return (
    <>
      <ChatOptions hidden={kind !== 'chat'} />
      <ImageOptions hidden={kind !== 'image'} />
      <VideoOptions hidden={kind !== 'video'} />
    </>
  );
}

interface Hidden {
  hidden: boolean;
}

function ChatOptions({ hidden }: Hidden): JSX.Element {
  return (
    <div class="stack" data-for="chat" hidden={hidden}>
      <div class="stack field">
        <label for="system">System prompt</label>
        <textarea id="system" name="system" rows={3} placeholder="You are a helpful assistant." />
      </div>
      <Field
        label="Temperature"
        name="temperature"
        input={{
          type: 'number',
          min: 0,
          max: MAX_TEMPERATURE,
          step: 0.1,
          placeholder: 'the model’s own',
          inputMode: 'decimal',
        }}
      />
      <Field
        label="Max output tokens"
        name="max_tokens"
        input={{ type: 'number', min: 1, value: 512, inputMode: 'numeric' }}
      />
    </div>
  );
}

function ImageOptions({ hidden }: Hidden): JSX.Element {
  const qualities = namedOptions(['standard', 'hd']);
  return (
    <div class="stack" data-for="image" hidden={hidden}>
      <Choice label="Quality" name="quality" value="standard" options={qualities} />
      <Choice label="Size" name="size" options={[{ value: '', name: 'The model’s own' }]} />
      <Field
        label="Count"
        name="n"
        input={{ type: 'number', min: 1, value: 1, inputMode: 'numeric' }}
      />
    </div>
  );
}

function VideoOptions({ hidden }: Hidden): JSX.Element {
  const options = namedOptions(RESOLUTIONS);
  return (
    <div class="stack" data-for="video" hidden={hidden}>
      <Choice label="Resolution" name="resolution" value="720p" options={options} />
      <Field
        label="Seconds"
        name="duration_seconds"
        input={{ type: 'number', min: 1, max: MAX_SECONDS, value: 4 }}
      />
      <Field
        label="Count"
        name="sample_count"
        input={{ type: 'number', min: 1, max: MAX_VIDEOS, value: 1 }}
      />
      <label class="choice">
        <input type="checkbox" name="generate_audio" checked />
        With sound
      </label>
    </div>
  );
}
