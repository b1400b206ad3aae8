// What of an Anthropic Messages request has a counterpart in OpenAI's Chat Completions API, member by member
// (platform.claude.com/docs/en/api/messages). docs/providers.md says it in words.

import * as v from 'valibot';
import {
  Amount,
  AnyObject,
  Empty,
  Flag,
  Hint,
  list,
  maybe,
  members,
  Nothing,
  only,
  Text,
  textOr,
  unlistedKind,
} from './fields.ts';
import { IMAGE_TYPES } from './image.ts';

/** OpenAI takes no more. */
const STOP_SEQUENCES_MAX = 4;

/** Name the response format that Anthropic's `output_config.format` becomes: OpenAI asks for one. */
export const FORMAT_NAME = 'response';

const TextBlock = members({ type: v.literal('text'), text: Text, citations: Empty, cache_control: Hint });

const ImageBlock = members({
  type: v.literal('image'),
  source: v.variant(
    'type',
    [
      members({
        type: v.literal('base64'),
        media_type: v.picklist(IMAGE_TYPES, `must be one of ${IMAGE_TYPES.join(', ')}`),
        data: Text,
      }),
      members({ type: v.literal('url'), url: Text }),
    ],
    unlistedKind,
  ),
  transformations: Nothing,
  cache_control: Hint,
});

const ToolResultBlock = members({
  type: v.literal('tool_result'),
  tool_use_id: Text,
  content: maybe(textOr(list(v.variant('type', [TextBlock], unlistedKind)))),
  is_error: maybe(Flag),
  toolset_name: Nothing,
  cache_control: Hint,
});

const ToolUseBlock = members({
  type: v.literal('tool_use'),
  id: Text,
  name: Text,
  input: AnyObject,
  caller: maybe(members({ type: v.literal('direct', 'can only be "direct"') })),
  toolset_name: Nothing,
  cache_control: Hint,
});

/** Signed by Anthropic for Anthropic: no other model can read it, and none needs it. */
const ThinkingBlock = members({ type: v.literal('thinking'), thinking: Hint, signature: Hint });
const RedactedThinkingBlock = members({ type: v.literal('redacted_thinking'), data: Hint });

const Texts = textOr(list(v.variant('type', [TextBlock], unlistedKind)));

const Message = v.variant(
  'role',
  [
    members({ role: v.literal('system'), content: Texts }),
    members({
      role: v.literal('user'),
      content: textOr(list(v.variant('type', [TextBlock, ImageBlock, ToolResultBlock], unlistedKind))),
    }),
    members({
      role: v.literal('assistant'),
      content: textOr(
        list(v.variant('type', [TextBlock, ToolUseBlock, ThinkingBlock, RedactedThinkingBlock], unlistedKind)),
      ),
    }),
  ],
  unlistedKind,
);

export type AnthropicMessage = v.InferOutput<typeof Message>;

const Tool = members({
  type: maybe(v.literal('custom', 'can only be "custom": no other has a counterpart')),
  name: Text,
  description: maybe(Text),
  input_schema: AnyObject,
  strict: maybe(Flag),
  defer_loading: only(false),
  allowed_callers: maybe(list(v.literal('direct', 'can only be "direct"'))),
  input_examples: Empty,
  eager_input_streaming: Hint,
  cache_control: Hint,
});

export type AnthropicTool = v.InferOutput<typeof Tool>;

const ParallelUse = { disable_parallel_tool_use: maybe(Flag) };

const ToolChoice = v.variant(
  'type',
  [
    members({ type: v.literal('none') }),
    members({ type: v.picklist(['auto', 'any']), ...ParallelUse }),
    members({ type: v.literal('tool'), name: Text, ...ParallelUse }),
  ],
  unlistedKind,
);

export type AnthropicToolChoice = v.InferOutput<typeof ToolChoice>;

/** A budget in tokens is a promise that OpenAI cannot keep; how hard to think is `output_config.effort`. */
const Thinking = v.variant(
  'type',
  [members({ type: v.literal('adaptive'), display: Hint }), members({ type: v.literal('disabled') })],
  unlistedKind,
);

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export const AnthropicRequest = members({
  model: Text,
  messages: list(Message),
  system: maybe(Texts),
  max_tokens: Amount,
  temperature: maybe(Amount),
  top_p: maybe(Amount),
  stop_sequences: maybe(v.pipe(list(Text), v.maxLength(STOP_SEQUENCES_MAX, `can have ${STOP_SEQUENCES_MAX} at most`))),
  stream: maybe(Flag),
  tools: maybe(list(Tool)),
  tool_choice: maybe(ToolChoice),
  thinking: maybe(Thinking),
  output_config: maybe(
    members({
      effort: maybe(v.picklist(EFFORTS, `must be one of ${EFFORTS.join(', ')}`)),
      format: maybe(v.variant('type', [members({ type: v.literal('json_schema'), schema: AnyObject })], unlistedKind)),
    }),
  ),
  metadata: maybe(members({ user_id: maybe(Text) })),
  speed: only('standard'),
  container: Nothing,
  context_management: Nothing,
  inference_geo: Nothing,
  mcp_servers: Empty,
  cache_control: Hint,
  diagnostics: Hint,
  service_tier: Hint,
});

export type AnthropicRequest = v.InferOutput<typeof AnthropicRequest>;
