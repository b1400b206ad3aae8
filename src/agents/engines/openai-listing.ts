// The listing that OpenAI defined and most engines copy: `{"data": [{"id": "…"}, …]}`.

import { array, is, object, string } from 'valibot';

const LISTING = object({ data: array(object({ id: string() })) });

/** The `id` of every entry; undefined when the document has another shape. */
export function readOpenAiListing(document: unknown): readonly string[] | undefined {
  return is(LISTING, document) ? document.data.map((model) => model.id) : undefined;
}
