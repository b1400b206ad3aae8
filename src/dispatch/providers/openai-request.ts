// What of an OpenAI chat request has a counterpart in Anthropic's Messages API, member by member
// (platform.openai.com/docs/api-reference/chat/create). docs/providers.md says it in words.

import * as v from 'valibot';
import { parseExactJson } from '../../lib/exact-json.ts';
import {
  Amount,
  AnyObject,
  Empty,
  Flag,
  Hint,
  type Json,
  list,
  maybe,
  members,
  Nothing,
  only,
  Text,
  textOr,
  unlistedKind,
} from './fields.ts';
import { ImageUrl } from './image.ts';

const ARGUMENTS_RULE = 'must be the text of a JSON object';

/** Empty arguments are a call without any: engines stream it so. */
export const Arguments = v.pipe(
  v.string(ARGUMENTS_RULE),
  v.rawTransform<string, Json>(({ dataset, addIssue, NEVER }) => {
    const parsed = parseExactJson(dataset.value.trim() === '' ? '{}' : dataset.value);
    if (parsed.ok && v.is(AnyObject, parsed.value)) return parsed.value;
    addIssue({ message: ARGUMENTS_RULE });
    return NEVER;
  }),
);

const TextPart = members({ type: v.literal('text'), text: Text, prompt_cache_breakpoint: Hint });
const RefusalPart = members({ type: v.literal('refusal'), refusal: Text });
const ImagePart = members({
  type: v.literal('image_url'),
  image_url: members({ url: ImageUrl, detail: Hint }),
  prompt_cache_breakpoint: Hint,
});

const Texts = textOr(list(v.variant('type', [TextPart], unlistedKind)));

const ToolCall = members({
  id: Text,
  type: v.literal('function', 'must be "function"'),
  function: members({ name: Text, arguments: Arguments }),
});

const Message = v.variant(
  'role',
  [
    members({ role: v.picklist(['system', 'developer']), content: Texts, name: Nothing }),
    members({
      role: v.literal('user'),
      content: textOr(list(v.variant('type', [TextPart, ImagePart], unlistedKind))),
      name: Nothing,
    }),
    members({
      role: v.literal('assistant'),
      content: maybe(textOr(list(v.variant('type', [TextPart, RefusalPart], unlistedKind)))),
      refusal: maybe(Text),
      tool_calls: maybe(list(ToolCall)),
      annotations: Empty,
      audio: Nothing,
      function_call: Nothing,
      name: Nothing,
    }),
    members({ role: v.literal('tool'), tool_call_id: Text, content: Texts }),
  ],
  unlistedKind,
);

export type OpenaiMessage = v.InferOutput<typeof Message>;

const Tool = v.variant(
  'type',
  [
    members({
      type: v.literal('function'),
      function: members({ name: Text, description: maybe(Text), parameters: maybe(AnyObject), strict: maybe(Flag) }),
    }),
  ],
  unlistedKind,
);

export type OpenaiTool = v.InferOutput<typeof Tool>;

const TOOL_CHOICES = ['none', 'auto', 'required'] as const;

const ToolChoice = v.lazy((input) => {
  return typeof input === 'string' ? v.picklist(TOOL_CHOICES, `must be one of ${TOOL_CHOICES.join(', ')}`) : NamedTool;
});

const NamedTool = v.variant(
  'type',
  [members({ type: v.literal('function'), function: members({ name: Text }) })],
  unlistedKind,
);

export type OpenaiToolChoice = v.InferOutput<typeof ToolChoice>;

const ResponseFormat = v.variant(
  'type',
  [
    members({ type: v.literal('text') }),
    members({
      type: v.literal('json_schema'),
      json_schema: members({ name: Hint, schema: AnyObject, strict: Hint, description: Nothing }),
    }),
  ],
  unlistedKind,
);

const EFFORTS = ['none', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Anthropic's range (OpenAI's goes to 2). */
const Temperature = v.pipe(Amount, v.minValue(0, 'must be 0 to 1'), v.maxValue(1, 'above 1 has no counterpart'));

export const OpenaiRequest = members({
  model: Text,
  messages: list(Message),
  max_completion_tokens: maybe(Amount),
  max_tokens: maybe(Amount),
  temperature: maybe(Temperature),
  top_p: maybe(Amount),
  stop: maybe(textOr(list(Text))),
  stream: maybe(Flag),
  stream_options: maybe(members({ include_usage: maybe(Flag), include_obfuscation: Hint })),
  tools: maybe(list(Tool)),
  tool_choice: maybe(ToolChoice),
  parallel_tool_calls: maybe(Flag),
  reasoning_effort: maybe(v.picklist(EFFORTS, `must be one of ${EFFORTS.join(', ')}: no other has a counterpart`)),
  response_format: maybe(ResponseFormat),
  user: maybe(Text),
  safety_identifier: maybe(Text),
  n: only(1),
  logprobs: only(false),
  top_logprobs: only(0),
  frequency_penalty: only(0),
  presence_penalty: only(0),
  store: only(false),
  verbosity: only('medium'),
  modalities: maybe(list(v.literal('text', 'can only be text'))),
  logit_bias: Empty,
  audio: Nothing,
  moderation: Nothing,
  web_search_options: Nothing,
  function_call: Nothing,
  functions: Empty,
  metadata: Hint,
  prediction: Hint,
  prompt_cache_key: Hint,
  prompt_cache_options: Hint,
  prompt_cache_retention: Hint,
  seed: Hint,
  service_tier: Hint,
});

export type OpenaiRequest = v.InferOutput<typeof OpenaiRequest>;
