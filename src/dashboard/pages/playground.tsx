import type { JSX } from 'preact';
import type { DashboardServices, Route } from '../types.js';
import { CreditHint } from './credit-hint.js';
import { requireSession } from './guard.js';
import { sendPage } from './page.js';
import { Options } from './playground-options.js';
import { Icon } from './icons.js';
import { NoModelYet, Notice } from './parts.js';
import { priceInShort } from './prices.js';
import { modalityOf } from './snippet.js';
import { MODALITIES } from '../../modalities/index.js';
import type { Model } from '../../core/model.js';

/** The modalities that the playground can call, with their titles. */
const PLAYABLE = [...MODALITIES.values()].flatMap(({ name, documentation }) => {
  const { playground } = documentation;
  const { client } = documentation.sampleCall('');
  return playground ? [{ kind: name, ...playground, client }] : [];
});
/** The sizes that are offered for a model whose price names none. */
const SIZES = ['1024x1024', '1536x1024', '1024x1536'];
const MAX_IMAGES = 10;
/** The call of each kind in the client libraries, for the code that the page shows. */
const CLIENTS = Object.fromEntries(
  PLAYABLE.map(({ kind, client }) => [kind, client] as const).filter(([, client]) => client),
);

/** The playground, where people try each model; the only page that needs scripts. */
export function playgroundRoute({ configuration, store }: DashboardServices): Route {
  const { public_url } = configuration;
  const models = [...configuration.models.values()].filter(
    (model) => modalityOf(model).documentation.playground,
  );
  return {
    method: 'GET',
    path: '/playground',
    access: 'session',
    answer: async (ctx, visitor) => {
      const person = requireSession(visitor);
      const account = await store.account(person.session.account_id);
      const wanted = models.find(({ id }) => id === ctx.query.model) ?? models[0];
      sendPage(ctx, visitor, {
        title: 'Playground',
        about: 'Real calls, charged to your account like any other.',
        scripts: ['playground.js'],
        body: (
          <>
            <CreditHint account={account} visitor={person} />
            {wanted ? <Playground {...{ models, wanted, public_url }} /> : <NoModelYet />}
          </>
        ),
      });
    },
  };
}

interface Choices {
  models: readonly Model[];
  wanted: Model;
}

function Playground(props: Choices & { public_url: string }): JSX.Element {
  const { models, wanted, public_url } = props;
  return (
    <>
      <noscript>
        <Notice colour="warn">
          The playground calls models from your browser, for which it needs JavaScript. The{' '}
          <a href="/models">Models</a> page has the same calls for your shell.
        </Notice>
      </noscript>
      <form
        class="beside play"
        id="playground"
        data-url={public_url}
        data-clients={JSON.stringify(CLIENTS)}
      >
        <aside class="card">
          <div class="body stack">
            <ModelChoice models={models} wanted={wanted} />
            <details id="options" open>
              <summary>Options</summary>
              <Options kind={kindOf(wanted)} />
            </details>
            <p class="hint" id="total" role="status">
              Nothing spent on this page yet.
            </p>
            <button type="button" id="clear">
              Clear
            </button>
          </div>
        </aside>
        <Conversation wanted={wanted} />
      </form>
    </>
  );
}

/** The page begins as its script leaves it for the wanted model, so that nothing moves. */
function Conversation({ wanted }: { wanted: Model }): JSX.Element {
  return (
    <section class="card" aria-label="Conversation">
      <div class="stack output" id="output" role="log" tabIndex={0} aria-label="Answers">
        <div class="empty" id="start">
          <h2>Say something</h2>
          <p>Answers appear here, with their cost.</p>
          {PLAYABLE.map(({ kind, ideas }) => (
            <div class="row" data-for={kind} hidden={kind !== kindOf(wanted)}>
              {ideas.map((idea) => (
                <button type="button" data-idea={idea}>
                  {idea}
                </button>
              ))}
            </div>
          ))}
        </div>
      </div>
      <div class="stack composer">
        <label class="unseen" for="prompt">
          Prompt
        </label>
        <textarea id="prompt" name="prompt" required placeholder="Write a prompt…" rows={2} />
        <ul class="row" id="attached" aria-label="Images" hidden />
        <p class="wrong" id="images-fault" role="alert" hidden />
        <div class="row apart">
          <span class="row">
            <label class="button plain" id="attach" hidden={!takesImages(wanted)}>
              <input type="file" id="images" accept="image/*" multiple class="unseen" />
              <Icon name="image" />
              Add image
            </label>
            <span class="hint">Enter sends, Shift and Enter starts a new line.</span>
          </span>
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

function ModelChoice(props: Choices): JSX.Element {
  const groups = PLAYABLE.map(({ kind, title }) => {
    const models = props.models.filter((model) => kindOf(model) === kind);
    return { kind, title, models };
  });
  return (
    <>
      <div class="stack field">
        <label for="model">Model</label>
        <select id="model" name="model" aria-describedby="price">
          {groups
            .filter(({ models }) => models.length > 0)
            .map(({ kind, title, models }) => (
              <optgroup label={title}>
                {models.map((model) => (
                  <ModelOption model={model} kind={kind} selected={model === props.wanted} />
                ))}
              </optgroup>
            ))}
        </select>
        <span class="hint" id="price">
          {priceInShort(props.wanted)}
        </span>
      </div>
      <div class="stack field">
        <label for="other">Compare with</label>
        <select id="other" aria-describedby="other-price">
          <option value="">no other model</option>
        </select>
        <span class="hint" id="other-price" />
      </div>
    </>
  );
}

/** A model, with its data for the scripts. */
function ModelOption(props: { model: Model; kind: string; selected: boolean }): JSX.Element {
  const { model, kind, selected } = props;
  const { limits } = model;
  const isImage = kind === 'image';
  return (
    <option
      value={model.id}
      data-kind={kind}
      data-price={priceInShort(model)}
      data-images={takesImages(model) ? '' : undefined}
      data-sizes={isImage ? sizesOf(model).join(' ') : undefined}
      data-count={isImage ? (limits.images ?? MAX_IMAGES) : undefined}
      selected={selected}
    >
      {model.id}
    </option>
  );
}

function kindOf(model: Model): string {
  return modalityOf(model).name;
}

function takesImages(model: Model): boolean {
  return model.capabilities.has('vision') || kindOf(model) === 'video';
}

/** The sizes that the price of a model names: `1024x1024`, or `hd/1024x1024`. */
function sizesOf({ price }: Model): readonly string[] {
  const named = [...(price.per_image?.keys() ?? [])].map((key) => key.split('/').at(-1) ?? '');
  const sizes = named.filter((name) => /^\d+x\d+$/u.test(name));
  return sizes.length > 0 ? [...new Set(sizes)] : SIZES;
}
