// Made by `npm run types` from schemas/generate-content.schema.json.

/**
 * Body of POST /v1beta/models/{model}:generateContent, in the format of the Gemini API. Its fields
 * may be written in snake_case as well. Other fields are let in here, and dropped later unless the
 * model passes them through.
 */
export interface GenerateContentBody {
  contents: GeminiContent[];
  systemInstruction?: GeminiContent;
  tools?: GeminiTool[];
  toolConfig?: GeminiToolConfig;
  generationConfig?: GeminiGenerationConfig;
  safetySettings?: {}[];
  cachedContent?: string;
}
export interface GeminiContent {
  role?: 'user' | 'model' | 'function' | '';
  parts?: GeminiPart[];
}
export interface GeminiPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: GeminiBlob;
  fileData?: GeminiFile;
  functionCall?: {
    id?: string;
    name: string;
    args?: {};
  };
  functionResponse?: {
    id?: string;
    name: string;
    response?: {};
    parts?: GeminiMedia[];
  };
  executableCode?: {
    id?: string;
    language?: string;
    code?: string;
  };
  codeExecutionResult?: {
    id?: string;
    outcome?: string;
    output?: string;
  };
}
export interface GeminiBlob {
  mimeType: string;
  data: string;
  displayName?: string;
}
export interface GeminiFile {
  mimeType?: string;
  fileUri: string;
  displayName?: string;
}
export interface GeminiMedia {
  inlineData?: GeminiBlob;
  fileData?: GeminiFile;
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
export interface GeminiToolConfig {
  functionCallingConfig?: {
    mode?: 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED' | 'MODE_UNSPECIFIED' | '';
    allowedFunctionNames?: string[];
  };
}
export interface GeminiGenerationConfig {
  maxOutputTokens?: number;
  candidateCount?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  seed?: number;
  stopSequences?: string[];
  presencePenalty?: number;
  frequencyPenalty?: number;
  responseLogprobs?: boolean;
  logprobs?: number;
  responseModalities?: string[];
  responseFormat?: unknown;
  responseMimeType?: 'text/plain' | 'application/json' | 'text/x.enum' | '';
  responseSchema?: {};
  responseJsonSchema?: {};
  thinkingConfig?: {
    includeThoughts?: boolean;
    thinkingBudget?: number;
    thinkingLevel?:
      | 'MINIMAL'
      | 'LOW'
      | 'MEDIUM'
      | 'HIGH'
      | 'THINKING_LEVEL_UNSPECIFIED'
      | 'minimal'
      | 'low'
      | 'medium'
      | 'high';
  };
}
