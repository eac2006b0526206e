// Package genai translates GenerateContent requests and responses to the hook
// format and back. The hook format is the stable JSON that hooks read and write,
// independent of the version of the model's library: LLMRequest {model, messages,
// config, toolConfig} and LLMResponse {text, candidates, usageMetadata}.
//
// The hook format holds only text. Images and function calls stay in messages that a
// hook leaves unchanged. Numbers keep every digit.
package genai
