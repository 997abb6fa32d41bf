// Made by `npm run types` from schemas/generate-content.schema.json.

export type GeminiToolConfig = {
  functionCallingConfig?: {
    mode?: string;
    allowedFunctionNames?: string[];
  };
} | null;
export type GeminiGenerationConfig = {
  maxOutputTokens?: number;
  candidateCount?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stopSequences?: string[];
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  responseMimeType?: string;
  responseSchema?: {};
  responseJsonSchema?: {};
  thinkingConfig?: {
    includeThoughts?: boolean;
    thinkingBudget?: number;
    thinkingLevel?: string;
  };
} | null;

/**
 * Body of POST /v1beta/models/{model}:generateContent, in the words of the Gemini API. Other
 * fields are let in here and dropped later unless the model passes them through.
 */
export interface GenerateContentBody {
  contents: GeminiContent[];
  systemInstruction?: GeminiContent;
  system_instruction?: GeminiContent;
  tools?: GeminiTool[] | null;
  toolConfig?: GeminiToolConfig;
  generationConfig?: GeminiGenerationConfig;
}
export interface GeminiContent {
  role?: string;
  parts: GeminiPart[];
}
export interface GeminiPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: GeminiBlob;
  fileData?: GeminiBlob;
  functionCall?: {
    id?: string;
    name: string;
    args?: {};
  };
  functionResponse?: {
    id?: string;
    name: string;
    response: {};
    parts?: GeminiPart[];
  };
}
export interface GeminiBlob {
  mimeType: string;
  data?: string;
  fileUri?: string;
}
export interface GeminiTool {
  functionDeclarations?: GeminiFunction[];
}
export interface GeminiFunction {
  name: string;
  description?: string;
  parameters?: {};
  parametersJsonSchema?: {};
}
