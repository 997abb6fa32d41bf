import { OptionError } from '../core/errors.js';
import type { Model } from '../core/model.js';
import { speakerAt, formatOf, type Modalities } from '../pipeline/modality.js';
import { contractModels, type ModelWords } from '../pipeline/model-words.js';
import { fact, formatOption, paramsOf, type PathParams, type Stage } from '../pipeline/stage.js';

/** Answers the list of models (specification 4.7). */
export function models(modalities: Modalities): Stage {
  return modelStage('models', modalities, (words, seen) => words.list(seen));
}

/**
 * A stage that answers something about models, in the words of the format that its option names,
 * else in those of who asks. A key that is limited to some models sees those only.
 */
export function modelStage(
  name: string,
  modalities: Modalities,
  answerOf: (words: ModelWords, seen: readonly Model[], params: PathParams) => object,
): Stage {
  const formats = [...modalities.values()].flatMap((modality) => modality.formats);
  const names = formats.flatMap((format) => (format.models ? [format.name] : []));
  return {
    name,
    shape: (option) => {
      if (option !== undefined && option !== null && !names.some((known) => known === option)) {
        throw new OptionError(`no clients of ${formatOption(option)} list models`, names);
      }
      return { needs: ['caller'], gives: ['answer'] };
    },
    create: (_option, { configuration }, endpoint) => {
      const own = formatOf(modalities, endpoint);
      const speaker = speakerAt(modalities, endpoint);
      const all = [...configuration.models.values()];
      return async (ctx, next) => {
        const words = (own ?? speaker?.(ctx.req.headers))?.models ?? contractModels;
        const allowed = fact(ctx.state, 'caller').models;
        const seen = allowed ? all.filter(({ id }) => allowed.includes(id)) : all;
        const body = answerOf(words, seen, paramsOf(ctx));
        ctx.state.answer = { body: () => body };
        await next();
      };
    },
  };
}
