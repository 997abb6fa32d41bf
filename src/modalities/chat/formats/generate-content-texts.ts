import type { ShapeOf, TextFields } from '../../../pipeline/text-walk.js';

const MEDIA: TextFields = {
  inlineData: { mimeType: 'kept', data: 'kept' },
  fileData: { mimeType: 'kept', fileUri: 'kept' },
};

/** Signed thoughts must go back to their upstream unchanged. */
const part: ShapeOf = ({ thought, thoughtSignature }) =>
  thought === true && thoughtSignature ? { ...PART, text: 'sealed' } : PART;

const PART: TextFields = {
  ...MEDIA,
  thoughtSignature: 'kept',
  functionCall: { id: 'kept', name: 'kept', args: 'data' },
  functionResponse: { id: 'kept', name: 'kept', response: 'data', parts: MEDIA },
  executableCode: { id: 'kept', language: 'kept' },
  codeExecutionResult: { id: 'kept', outcome: 'kept' },
};

/** Locates the texts of a body of the Gemini API. */
export const CONTENT_TEXTS: TextFields = {
  model: 'kept',
  contents: { parts: part },
  systemInstruction: { parts: part },
  // The model reads descriptions and schemas of functions, so they are texts.
  tools: { functionDeclarations: { name: 'kept' } },
  toolConfig: 'kept',
  generationConfig: {
    responseModalities: 'kept',
    responseMimeType: 'kept',
    thinkingConfig: 'kept',
    mediaResolution: 'kept',
  },
  safetySettings: 'kept',
};
