import type { JSX } from 'preact';
import type { DashboardServices, Route } from '../types.js';
import { sendPage } from './page.js';
import { Choice, Field } from './fields.js';
import { Card, Empty, Notice } from './parts.js';
import { priceInShort } from './prices.js';
import { modalityOf } from './snippet.js';
import { MODALITIES } from '../../modalities/index.js';
import type { Model } from '../../core/model.js';

/** The modalities that the playground can call, with their titles. */
const PLAYABLE = [...MODALITIES.values()].flatMap(({ name, playground }) =>
  playground ? [{ kind: name, ...playground }] : [],
);
const RESOLUTIONS = ['720p', '1080p', '4k'];
const MAX_SECONDS = 8;

/** The playground, where people try each model; the only page that needs scripts. */
export function playgroundRoute({ configuration }: DashboardServices): Route {
  const models = [...configuration.models.values()].filter((model) => modalityOf(model).playground);
  return {
    method: 'GET',
    path: '/playground',
    who: 'visitor',
    answer: (ctx, visitor) => {
      const wanted = models.find(({ id }) => id === ctx.query['model']) ?? models[0];
      sendPage(ctx, visitor, {
        title: 'Playground',
        about: 'Real calls, charged to your account like any other.',
        scripts: ['playground.js'],
        body: wanted ? <Playground models={models} wanted={wanted} /> : <NoModel />,
      });
    },
  };
}

function NoModel(): JSX.Element {
  return (
    <Card>
      <Empty title="No model yet">
        <p>
          Declare one under <code>models:</code> in gateway.yaml.
        </p>
      </Empty>
    </Card>
  );
}

function Playground(props: { models: readonly Model[]; wanted: Model }): JSX.Element {
  const { models, wanted } = props;
  return (
    <>
      <noscript>
        <Notice mood="warn">
          The playground calls models from your browser, for which it needs JavaScript. The{' '}
          <a href="/models">Models</a> page has the same calls for your shell.
        </Notice>
      </noscript>
      <form class="play" id="playground">
        <Conversation />
        <aside class="card">
          <div class="body stack">
            <ModelChoice models={models} wanted={wanted} />
            <details class="quiet" id="options" open>
              <summary>Options</summary>
              <ChatOptions />
              <ImageOptions />
              <VideoOptions />
            </details>
            <p class="hint" id="total" role="status">
              Nothing spent on this page yet.
            </p>
            <button type="button" id="clear">
              Clear
            </button>
          </div>
        </aside>
      </form>
    </>
  );
}

function Conversation(): JSX.Element {
  return (
    <section class="card" aria-label="Conversation">
      <div class="output" id="output" role="log" tabIndex={0} aria-label="Answers">
        <div class="empty" id="start">
          <h2>Say something</h2>
          <p>What a model answers appears here, with what it cost.</p>
          {PLAYABLE.map(({ kind, ideas }) => (
            <div class="row ideas" data-for={kind}>
              {ideas.map((idea) => (
                <button type="button" data-idea={idea}>
                  {idea}
                </button>
              ))}
            </div>
          ))}
        </div>
      </div>
      <div class="composer">
        <label class="unseen" for="prompt">
          Prompt
        </label>
        <textarea id="prompt" name="prompt" required placeholder="Write a prompt…" rows={2} />
        <div class="row">
          <span class="hint">Enter sends, Shift and Enter starts a new line.</span>
          <span class="row">
            <button type="button" id="stop" hidden>
              Stop
            </button>
            <button class="solid" id="send">
              Send
            </button>
          </span>
        </div>
      </div>
    </section>
  );
}

function ModelChoice(props: { models: readonly Model[]; wanted: Model }): JSX.Element {
  const groups = PLAYABLE.map(({ kind, title }) => {
    const models = props.models.filter((model) => modalityOf(model).name === kind);
    return { kind, title, models };
  });
  return (
    <div class="field">
      <label for="model">Model</label>
      <select id="model" name="model">
        {groups
          .filter(({ models }) => models.length > 0)
          .map(({ kind, title, models }) => (
            <optgroup label={title}>
              {models.map((model) => (
                <option
                  value={model.id}
                  data-kind={kind}
                  data-price={priceInShort(model)}
                  selected={model === props.wanted}
                >
                  {model.id}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
      <span class="hint" id="price" />
    </div>
  );
}

function ChatOptions(): JSX.Element {
  return (
    <div class="stack" data-for="chat">
      <div class="field">
        <label for="system">Instructions</label>
        <textarea id="system" name="system" rows={3} placeholder="You are a helpful assistant." />
      </div>
      <Field
        label="Most tokens of an answer"
        name="max_tokens"
        input={{ type: 'number', min: 1, value: 512, inputMode: 'numeric' }}
      />
    </div>
  );
}

function ImageOptions(): JSX.Element {
  const options = ['standard', 'hd'].map((value) => ({ value, name: value }));
  return (
    <div class="stack" data-for="image" hidden>
      <Choice label="Quality" name="quality" value="standard" options={options} />
    </div>
  );
}

function VideoOptions(): JSX.Element {
  const options = RESOLUTIONS.map((value) => ({ value, name: value }));
  return (
    <div class="stack" data-for="video" hidden>
      <Choice label="Resolution" name="resolution" value="720p" options={options} />
      <Field
        label="Seconds"
        name="duration_seconds"
        input={{ type: 'number', min: 1, max: MAX_SECONDS, value: 4 }}
      />
      <label class="choice">
        <input type="checkbox" name="generate_audio" checked />
        With sound
      </label>
    </div>
  );
}
