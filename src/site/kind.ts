// The three kinds of model that a placement can name. Apart, because the map, the choice and the endpoints all speak of them.

/** What a model does, as the sibling map spells it (product page, `placements[].kind`). */
export const KINDS = ['chat', 'embedding', 'rerank'] as const;

export type Kind = (typeof KINDS)[number];
