// The prompt inside a chat or messages body. Both dialects write content as a text or as parts, and both must come to the
// same prompt, so that a question has one digest wherever it is asked.

import * as v from 'valibot';

const PartSchema = v.object({ text: v.optional(v.string(), '') });

/** A text, or parts of which only texts count; nothing in a message that only calls tools. */
export const ContentSchema = v.nullish(v.union([v.string(), v.array(PartSchema)]), '');

export const MessagesSchema = v.pipe(
  v.array(v.object({ role: v.string(), content: ContentSchema })),
  v.minLength(1, 'must hold a message'),
);

export type Content = v.InferOutput<typeof ContentSchema>;

/** Every text in order, one a line; empty ones leave no line. */
export function promptOf(contents: readonly Content[]): string {
  return contents
    .flatMap((content) => (typeof content === 'string' ? [content] : content.map(({ text }) => text)))
    .filter((text) => text !== '')
    .join('\n');
}
