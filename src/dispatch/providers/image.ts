// Images in both dialects: OpenAI knows one URL, which may be a `data:` URL, Anthropic a source that is one or the other.

import * as v from 'valibot';

export type ImageSource =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string };

/** What Anthropic reads (platform.claude.com/docs, "Vision"). */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

const RULE = `must be an https URL or a base64 data URL of ${IMAGE_TYPES.join(', ')}`;

/** OpenAI's `image_url.url` as Anthropic's source. The data is not decoded: it may be megabytes. */
export const ImageUrl = v.pipe(
  v.string(RULE),
  v.rawTransform<string, ImageSource>(({ dataset, addIssue, NEVER }) => {
    const source = readImageUrl(dataset.value);
    if (source !== undefined) return source;
    addIssue({ message: RULE });
    return NEVER;
  }),
);

function readImageUrl(url: string): ImageSource | undefined {
  if (/^https:\/\//i.test(url)) return { type: 'url', url };
  const [head = '', start = -1] = [/^data:[^,]{1,64},/i.exec(url)?.[0], url.indexOf(',')];
  const media = IMAGE_TYPES.find((type) => head.toLowerCase() === `data:${type};base64,`);
  return media === undefined ? undefined : { type: 'base64', media_type: media, data: url.slice(start + 1) };
}

/** The other way round. */
export function imageUrl(source: ImageSource): string {
  return source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
}
